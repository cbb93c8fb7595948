"""What a command line asks for: refused where it contradicts itself, checked before a record is sent."""

from __future__ import annotations

import ast
from argparse import Namespace
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from schemas import headers as names
from stream.cli.parser import parse
from stream.config.settings import InputBinding, Settings
from stream.errors import UsageError
from stream.run_batch.beginning import take_up
from stream.run_batch.check import TOLD_MAX, check_rows
from stream.run_batch.endpoint import config_of, endpoint_name
from stream.run_batch.engine_flags import REFUSED, engine_options
from stream.run_batch.rename import Rename
from stream.run_batch.source import make_source
from stream.run_batch.wanted import Wanted
from stream.run_batch.whole_batch import run_batch
from tests.stream.run_batch.stage import REQUESTS, SETTINGS, StageOfBatch, request_line, requests_file


def wanted(tmp_path: Path, **options: Any) -> Wanted:
    return Wanted(**{"input": requests_file(tmp_path, ["a"]), "output": tmp_path / "out.jsonl", **options})


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"input": Path("-")}, "goes on after a kill, so it needs a file"),
        ({"output": Path("https://example.org/out")}, "goes on after a kill, so it needs a file"),
        ({"input": Path("missing.jsonl")}, "is no file that can be read"),
        ({"prompt": "{text}"}, "--prompt makes requests of a table's rows"),
        ({"tokens_max": 8}, "--max-tokens makes requests of a table's rows"),
        ({"choices": ["a"]}, "--choice makes requests of a table's rows"),
        ({"format": "csv", "key_field": "x"}, "--key-column COLUMN"),
        ({"format": "csv", "system": "x"}, "--system needs --prompt"),
        ({"format": "csv", "prompt": "x", "header_columns": [(names.ERRORS, "x")]}, "sets it itself"),
    ],
)
def test_options_that_do_not_go_together_are_refused_with_what_is_right(
    tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError) as refused:
        wanted(tmp_path, **options).check()
    assert words in str(refused.value)


def aliases(tmp_path: Path, name: str) -> list[Path]:
    """Other paths of one file."""
    (tmp_path / "alias").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / name)
    if (tmp_path / name).exists():
        (tmp_path / "hard").hardlink_to(tmp_path / name)
    paths = ["alias", "folder/..", "."]
    return [*(tmp_path / path / name for path in paths), tmp_path / "link", tmp_path / "hard"]


@pytest.mark.parametrize("number", range(5))
@pytest.mark.parametrize("option", ["output", "errors"])
def test_the_input_is_never_written_to_by_another_path(tmp_path: Path, option: str, number: int) -> None:
    asked = wanted(tmp_path)
    content = asked.input.read_bytes()
    other: dict[str, Any] = {option: aliases(tmp_path, "in.jsonl")[number]}
    asked = replace(asked, **other)
    with pytest.raises(UsageError, match="must be different files"):
        run_batch(asked, Namespace(), check=False, fresh=True)
    assert asked.input.read_bytes() == content


@pytest.mark.parametrize("number", range(4))
def test_output_and_errors_are_different_files_by_any_path(tmp_path: Path, number: int) -> None:
    errors = aliases(tmp_path, "out.jsonl")[number]
    with pytest.raises(UsageError, match="must be different files"):
        wanted(tmp_path, errors=errors).check()


@pytest.mark.parametrize("option", ["output", "errors"])
def test_neither_the_body_nor_the_configuration_is_written_to(tmp_path: Path, option: str) -> None:
    path = tmp_path / "read"
    path.write_text("{}")
    with pytest.raises(UsageError, match=r"must be different files: .* --body "):
        wanted(tmp_path, **{"format": "csv", "body": path, option: path}).check()
    with pytest.raises(UsageError, match=r"must be different files: .* -c "):
        wanted(tmp_path, **{option: path}).check(path)


def test_files_in_the_folder_of_the_batch_and_beside_a_table_are_refused(tmp_path: Path) -> None:
    asked = wanted(tmp_path)
    folder = tmp_path / "out.jsonl.batch"
    folder.mkdir()
    inside = asked.input.rename(folder / "in.jsonl")
    with pytest.raises(UsageError, match="the batch's own folder"):
        replace(asked, input=inside).check()
    beside = inside.rename(tmp_path / ".out.csv.new")
    with pytest.raises(UsageError, match="must be different files"):
        replace(asked, input=beside, output=tmp_path / "out.csv").check()


def test_an_output_that_is_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a folder; name a file"):
        wanted(tmp_path, output=tmp_path).check()


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_flag_of_vllm_that_means_nothing_here_is_refused_by_name(name: str) -> None:
    with pytest.raises(UsageError, match=f"--{name} means nothing here: "):
        parse(["run-batch", "-i", "a", "-o", "b", f"--{name}", "x"])


def test_every_flag_that_vllm_has_for_batches_alone_is_taken_or_refused_by_name() -> None:
    spec = find_spec("vllm")
    if spec is None or spec.origin is None:
        pytest.skip("vLLM is not installed")
    source = (Path(spec.origin).parent / "entrypoints/launchers/run_batch.py").read_text()
    [own] = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ClassDef) and node.name == "BatchFrontendArgs"
    ]
    names = {
        item.target.id
        for item in own.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }
    assert len(names) >= 7
    assert {name.replace("_", "-") for name in names} - {"input-file", "output-file"} <= set(REFUSED)


def test_the_flags_of_an_engine_become_its_options() -> None:
    line = [
        "run-batch",
        "-i",
        "a",
        "-o",
        "b",
        "--model",
        "org/Some-Model",
        "--max-model-len",
        "512",
        "--dtype",
        "auto",
    ]
    _, arguments = parse(line)
    assert engine_options(arguments) == {"max_model_len": 512, "dtype": "auto"}
    assert config_of("org/Some-Model", engine_options(arguments)) == (
        '[endpoints."some-model"]\nengine = "vllm"\nmodel = "org/Some-Model"\n'
        'options = { max_model_len = 512, dtype = "auto" }\n'
    )
    assert "slots = 64\n" in config_of("m", {"max_num_seqs": 64})
    assert endpoint_name("/models/My Model_v1/") == "my-model_v1"


def test_lines_that_name_the_model_go_to_its_endpoint_and_others_as_they_are() -> None:
    rename = Rename({"org/model"}, "model")
    there = rename.line(request_line("a", text="1.0 org/model", model="org/model").encode())
    assert there == request_line("a", text="1.0 org/model", model="model").encode()
    for other in (request_line("a", text="org/model").encode(), b"org/model", b'{"body": "org/model"}'):
        assert rename.line(other) == other


def test_a_model_is_found_however_its_json_is_written() -> None:
    rename = Rename({"org/mödel"}, "model")
    line = request_line("a", model="org/mödel")
    for written in ("org\\/mödel", "org/m\\u00f6del", "\\u006frg/mödel"):
        other = line.replace("org/mödel", written)
        assert rename.line(other.encode()) == request_line("a", model="model").encode()


def findings(path: Path, settings: Settings = SETTINGS) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    source = make_source(Wanted(path, path.with_name("out")), SETTINGS, started=False)
    assert check_rows(source.rows, settings, REQUESTS, lambda *one: found.append(one)) >= len(found)
    return found


def test_a_check_tells_every_line_that_is_wrong_and_what_would_be_right(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    good, unknown = request_line("a"), request_line("b", model="sin")
    wrong = good.replace('"model"', '"max_tokens":-1,"model"')
    path.write_text("\n".join([good, "nonsense", "", unknown, wrong]))
    first, second, third = findings(path)
    assert (first[0], first[1][:20]) == (2, "unreadable: not JSON")
    assert second == (4, "unknown_endpoint: no endpoint 'sin', did you mean \"sim\"?")
    assert (third[0], "max_tokens" in third[1]) == (5, True)


def test_a_check_refuses_unknown_fields_where_the_input_does(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text(request_line("a").replace('"model"', '"modle":1,"model"'))
    assert findings(path) == []
    strict = InputBinding(REQUESTS, unknown_fields="refuse")
    [(line, wrong)] = findings(path, replace(SETTINGS, inputs=(strict,)))
    assert (line, "modle" in wrong) == (1, True)


def test_a_check_tells_the_first_findings_and_counts_the_others(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    path.write_text("nonsense\n" * (TOLD_MAX + 5))
    assert len(findings(path)) == TOLD_MAX


def test_an_output_that_nobody_stopped_in_is_not_written_over(tmp_path: Path) -> None:
    batch = StageOfBatch(wanted(tmp_path))
    batch.folder.forget()
    (tmp_path / "out.jsonl").write_text("somebody's\n")
    with pytest.raises(UsageError, match="exists, and no batch stopped in it"):
        take_up(batch.wanted, batch.folder, fresh=False)
    assert take_up(batch.wanted, batch.folder, fresh=True) is None
    assert not (tmp_path / "out.jsonl").exists()


def test_an_input_that_changed_is_refused_with_what_to_do(tmp_path: Path) -> None:
    batch = StageOfBatch(wanted(tmp_path))
    assert take_up(batch.wanted, batch.folder, fresh=False) is not None
    batch.wanted.input.write_text(request_line("b"))
    with pytest.raises(UsageError, match=r"is not what it was when this batch began .* --fresh"):
        take_up(batch.wanted, batch.folder, fresh=False)


def test_other_options_are_refused_by_name(tmp_path: Path) -> None:
    batch = StageOfBatch(wanted(tmp_path, lane="batch"))
    other = wanted(tmp_path, lane="interactive")
    with pytest.raises(UsageError, match="began with --lane batch, not interactive"):
        take_up(other, batch.folder, fresh=False)


def test_two_commands_never_work_on_one_batch(tmp_path: Path) -> None:
    batch = StageOfBatch(wanted(tmp_path))
    with (
        batch.folder.held(),
        pytest.raises(UsageError, match=r"another run-batch works on out\.jsonl"),
        batch.folder.held(),
    ):
        pass
