"""How a command finds the installation: -c, else --state-dir, else ./.headrace."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
from pathlib import Path

import pytest

from stream.cli.options import find_installation
from stream.client.installation import Installation
from stream.errors import ConfigError, LogTimeout, UsageError
from stream.processes.identity import started_of
from tests.stream.cli.conftest import Run

CONFIG = '[headrace]\nprefix = "{}."\n[endpoints.sim]\nengine = "simulated"\n'


def find(**options: Path) -> Installation:
    return find_installation(argparse.Namespace(**options))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def state(name: str, *, prefix: str | None = None, servers: str | None = None) -> Path:
    """A state directory as a supervisor leaves it."""
    folder = Path(name)
    folder.mkdir()
    if prefix:
        (folder / "config.toml").write_text(CONFIG.format(prefix))
    (folder / "runtime.json").write_text(json.dumps({"bootstrap_servers": servers, "processes": []}))
    return folder


def test_without_options_it_is_the_folder_of_up() -> None:
    state(".headrace", prefix="here", servers="127.0.0.1:1")
    found = find()
    assert (found.settings.prefix, found.bootstrap_servers) == ("here.", "127.0.0.1:1")


def test_a_state_directory_goes_before_the_default() -> None:
    state(".headrace", prefix="here", servers="127.0.0.1:1")
    assert find(state_dir=state("other", prefix="there", servers="127.0.0.1:2")).settings.prefix == "there."


def test_a_configuration_file_goes_before_the_copy_in_the_state_directory() -> None:
    folder = state("other", prefix="copy", servers="127.0.0.1:2")
    config = Path("mine.toml")
    config.write_text(CONFIG.format("mine"))
    found = find(config=config, state_dir=folder)
    assert (found.settings.prefix, found.bootstrap_servers) == ("mine.", "127.0.0.1:2")


def test_a_configured_broker_needs_no_state_directory() -> None:
    config = Path("mine.toml")
    config.write_text('[kafka]\nbootstrap_servers = "k:1"\n' + CONFIG.format("mine"))
    place = find(config=config).place("worker-sim-00")
    assert (place.bootstrap_servers, place.process_name) == ("k:1", "worker-sim-00")


def test_an_installation_of_up_without_a_file_has_the_built_in_endpoint() -> None:
    assert set(find(state_dir=state("s", servers="127.0.0.1:1")).settings.endpoints) == {"smollm2"}


@pytest.mark.parametrize("started", [True, False])
def test_where_nothing_runs_it_says_how_to_start(started: bool) -> None:
    folder = state("s") if started else Path("s")
    with pytest.raises(UsageError, match=r"nothing runs in s: start it with `headrace up`"):
        _ = find(state_dir=folder).bootstrap_servers


def test_a_broken_runtime_file_is_named() -> None:
    folder = state("s")
    (folder / "runtime.json").write_text("{")
    with pytest.raises(UsageError, match=r"s/runtime.json cannot be read"):
        find(state_dir=folder)


def test_a_wrong_configuration_is_told_whole() -> None:
    Path("wrong.toml").write_text("[endpoints.sim]\nengin = 1\nslots = 0\n")
    with pytest.raises(ConfigError) as wrong:
        find(config=Path("wrong.toml"))
    assert str(wrong.value).count("wrong.toml:") == 2


def test_config_check_prints_every_finding_and_ends_with_2(run: Run) -> None:
    Path("wrong.toml").write_text("[endpoints.sim]\nengin = 1\nslots = 0\n")
    ended = run("config", "check", "wrong.toml")
    assert ended.code == 2
    assert [line.split(": ")[0] for line in ended.out.splitlines()] == ["wrong.toml:2", "wrong.toml:3"]


def test_a_setting_that_the_kafka_client_does_not_know_is_a_configuration_error(run: Run) -> None:
    Path("wrong.toml").write_text(
        '[kafka]\nbootstrap_servers = "k:1"\nclient = { "sasl.pasword" = "x" }\n' + CONFIG.format("mine")
    )
    for words in (
        ("config", "check", "wrong.toml"),
        ("consume", "t", "-c", "wrong.toml"),
        ("up", "-c", "wrong.toml"),
    ):
        ended = run(*words)
        assert ended.code == 2
        assert (
            'wrong.toml:3: [kafka] client: No such configuration property: "sasl.pasword"'
            in ended.out + ended.err
        )


@pytest.mark.parametrize(
    ("client", "line", "words"),
    [
        ('[kafka.client]\n"linger.ms" = 5\n"security.protocol" = "FOO"', 5, 'Invalid value "FOO"'),
        ('client."ssl.key.location" = "k"\nclient."security.protocol" = "ssl"', 3, "ssl.key.location"),
        ('client = { "sasl.mechanisms" = "PLAIN", "security.protocol" = "sasl_ssl" }', 3, "sasl"),
    ],
    ids=["value", "file", "together"],
)
def test_what_the_kafka_client_refuses_is_told_with_its_line(
    run: Run, client: str, line: int, words: str
) -> None:
    Path("wrong.toml").write_text(f'[kafka]\nbootstrap_servers = "k:1"\n{client}\n' + CONFIG.format("mine"))
    ended = run("config", "check", "wrong.toml")
    assert ended.code == 2
    assert ended.out.startswith(f"wrong.toml:{line}: [kafka] client: ")
    assert words in ended.out


def test_config_check_of_a_good_file_ends_with_0(run: Run) -> None:
    Path("good.toml").write_text(CONFIG.format("good"))
    assert run("config", "check", "good.toml") == (0, "good.toml: ok (1 inputs, 1 endpoints)\n", "")
    assert run("config", "check", "-c", "good.toml").code == 0


def test_config_check_without_a_file_asks_for_one(run: Run) -> None:
    assert run("config", "check").code == 2


def test_a_silent_broker_of_up_is_told_with_what_to_do() -> None:
    """A supervisor that was killed leaves the address of a broker that is gone."""
    words = find(state_dir=state("s", servers="127.0.0.1:1")).no_answer(LogTimeout("refused"))
    assert words.startswith("no answer from the broker at 127.0.0.1:1: refused; ")
    assert words.endswith("a `headrace up` in s: if that was killed, start it again")


@pytest.mark.parametrize(
    "command", [("worker", "--endpoint", "sim", "--slot", "0"), ("dispatcher", "--slot", "0")]
)
def test_a_slot_that_up_runs_here_is_not_started_twice(run: Run, command: tuple[str, ...]) -> None:
    name = "worker-sim-00" if command[0] == "worker" else "dispatcher-00"
    folder = state("s", prefix="mine", servers="127.0.0.1:1")
    other = os.getppid()
    entry = {"role": command[0], "name": name, "pid": other, "started": started_of(other), "state": "running"}
    (folder / "runtime.json").write_text(
        json.dumps({"bootstrap_servers": "127.0.0.1:1", "processes": [entry]})
    )
    ended = run(*command, "--state-dir", "s")
    assert ended.code == 2
    assert f"{name} is run by `headrace up` in s (pid {other})" in ended.err


def test_a_slot_whose_process_is_gone_may_start() -> None:
    found = find(state_dir=state("s", servers="127.0.0.1:1"))
    gone = {"name": "worker-sim-00", "pid": os.getppid(), "started": 1.0}
    mine = {"name": "worker-sim-01", "pid": os.getpid(), "started": started_of(os.getpid())}
    found = dataclasses.replace(found, runtime={"processes": [gone, mine]})
    found.refuse_twin("worker-sim-00")
    found.refuse_twin("worker-sim-01")


def test_a_role_names_the_broker_that_does_not_answer() -> None:
    found = find(state_dir=state("s", servers="127.0.0.1:1"))
    with (
        pytest.raises(LogTimeout, match=r"no answer from the broker at 127.0.0.1:1: silent"),
        found.named_broker(),
    ):
        raise LogTimeout("silent")
