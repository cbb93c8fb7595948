"""Files that are moved, removed or cut between a kill and the next run: refused, never filled up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stream.errors import UsageError
from stream.run_batch.beginning import take_up
from stream.run_batch.files import write_output
from stream.run_batch.wanted import Wanted
from tests.stream.run_batch.stage import INVALID, StageOfBatch, custom_id, requests_file


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-5])


def mask(path: Path) -> None:
    path.write_bytes(b"x" * path.stat().st_size)


def stopped(tmp_path: Path, **options: Any) -> StageOfBatch:
    """Two of its rows are answered, and written down."""
    asked = {"input": requests_file(tmp_path, ["a", "b", "c"]), "output": tmp_path / "out.jsonl", **options}
    batch = StageOfBatch(Wanted(**asked))
    turns = iter(range(9))

    def answer() -> None:
        for record in batch.requests()[:2]:
            batch.answer(record, INVALID if custom_id(record) == "a" else None)
        if next(turns) > 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        batch.run(answer)
    return batch


@pytest.mark.parametrize("harm", [Path.unlink, cut, mask])
@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "out.jsonl"),
        ({"errors": True}, "out.jsonl"),
        ({"errors": True}, "errors.jsonl"),
        ({"errors": True, "ordered": True}, "errors.jsonl"),
        ({"ordered": True}, "out.jsonl"),
        ({"ordered": True}, "out.jsonl.batch/arrived.jsonl"),
        ({"table": True}, "out.csv.batch/cells.jsonl"),
    ],
)
def test_a_file_that_lacks_what_was_written_is_refused_and_left_as_it_is(
    tmp_path: Path, options: dict[str, bool], name: str, harm: Callable[[Path], None]
) -> None:
    more: dict[str, Any] = {"ordered": options.get("ordered", False)}
    if "errors" in options:
        more["errors"] = tmp_path / "errors.jsonl"
    if "table" in options:
        more["output"] = tmp_path / "out.csv"
    batch = stopped(tmp_path, **more)
    good = (tmp_path / name).read_bytes()
    harm(tmp_path / name)
    with pytest.raises(UsageError, match="put it back as it was, or start over with --fresh"):
        take_up(batch.wanted, batch.folder, fresh=False)
    with pytest.raises(UsageError, match="put it back as it was, or start over with --fresh"):
        batch.run()
    (tmp_path / name).write_bytes(good)
    write_output(batch.wanted, batch.folder, batch.run(batch.answer_all))


@pytest.mark.parametrize("harm", [Path.unlink, cut])
def test_an_index_that_lacks_rows_is_refused(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    batch = stopped(tmp_path)
    harm(batch.folder.index)
    with pytest.raises(UsageError, match=r"index .* start over with --fresh"):
        batch.run()


def test_an_output_that_goes_while_it_runs_is_not_called_done(tmp_path: Path) -> None:
    batch = stopped(tmp_path)
    state = batch.run(batch.answer_all)
    (tmp_path / "out.jsonl").unlink()
    with pytest.raises(UsageError, match=r"out\.jsonl is gone"):
        write_output(batch.wanted, batch.folder, state)
