"""`headrace config check` goes as far as it can without starting anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from stream.config.engine_options import fields_of, unknown
from stream.config.placed import remarks
from stream.config.settings import Settings
from tests.stream.cli.conftest import Run
from workers.endpoint import Endpoint

GIB = 1024**3


def words(endpoint: Endpoint, hub: Path) -> list[str]:
    found = remarks(Settings(endpoints={endpoint.name: endpoint}), 8 * GIB, hub)
    return [f"{'error' if remark.error else 'warning'}: {remark.words}" for remark in found]


def test_a_model_folder_that_is_not_there_is_an_error_with_its_line(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "c.toml"
    file.write_text('[endpoints.m]\nworkers = 1\nmodel = "./none"\n')
    ended = run("config", "check", str(file))
    assert (ended.code, ended.out) == (
        2,
        f"{file}:3: the model folder {tmp_path / 'none'} does not exist\n",
    )


def test_a_hub_name_is_fine_once_it_was_downloaded_and_a_warning_before(tmp_path: Path) -> None:
    endpoint = Endpoint("m", model="somebody/model")
    [told] = words(endpoint, tmp_path)
    assert told.startswith('warning: "somebody/model" is no folder and not downloaded yet')
    (tmp_path / "models--somebody--model").mkdir()
    assert words(endpoint, tmp_path) == []


def test_a_folder_without_a_model_is_a_warning(tmp_path: Path) -> None:
    assert "holds no config.json" in words(Endpoint("m", model=str(tmp_path)), tmp_path)[0]
    (tmp_path / "config.json").touch()
    assert words(Endpoint("m", model=str(tmp_path)), tmp_path) == []


def test_a_cache_of_all_workers_beyond_the_machines_memory_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "config.json").touch()
    options = {"kv_cache_memory_bytes": 3 * GIB}
    assert words(Endpoint("m", model=str(tmp_path), workers=2, options=options), tmp_path) == []
    [told] = words(Endpoint("m", model=str(tmp_path), workers=3, options=options), tmp_path)
    assert told == "warning: kv_cache_memory_bytes x 3 workers = 9.0 GiB, this machine has 8.0 GiB"


def test_a_simulated_endpoint_needs_no_model(tmp_path: Path) -> None:
    assert words(Endpoint("m", engine="simulated", model="./none"), tmp_path) == []


def test_options_are_known_by_the_fields_of_the_engines_argument_classes() -> None:
    source = (
        "class EngineArgs:\n    max_model_len: int = 1\nclass AsyncEngineArgs(EngineArgs):\n    log: bool\n"
    )
    known = fields_of(f"{source}class Other:\n    no: int\n")
    assert known == {"max_model_len", "log"}
    assert unknown(["max_model_length", "log"], known) == [
        'vLLM has no option "max_model_length", did you mean "max_model_len"?'
    ]
    assert unknown(["anything"], frozenset()) == []


@pytest.mark.parametrize("connect", [True, False])
def test_a_broker_and_a_registry_that_are_away_are_told_only_where_it_may_ask(
    run: Run, tmp_path: Path, connect: bool
) -> None:
    file = tmp_path / "c.toml"
    file.write_text(
        '[kafka]\nbootstrap_servers = "127.0.0.1:1"\n[registry]\nurl = "http://127.0.0.1:1"\n'
        '[endpoints.m]\nengine = "simulated"\n'
    )
    ended = run("config", "check", str(file), *(["--connect"] if connect else []))
    assert ended.code == (2 if connect else 0)
    assert (f"{file}:2: no answer from the broker at 127.0.0.1:1" in ended.out) is connect
    assert (f"{file}:4: the registry at http://127.0.0.1:1 does not answer" in ended.out) is connect
