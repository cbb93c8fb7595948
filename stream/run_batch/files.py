"""The files that a batch's answers go to, opened at its state."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from stream.run_batch.answers import Answers, index_bytes
from stream.run_batch.folder import BatchFolder
from stream.run_batch.in_order import InOrder
from stream.run_batch.kept import check_kept, check_there
from stream.run_batch.private import open_private
from stream.run_batch.state import State
from stream.run_batch.table_out import cells_line, write_table
from stream.run_batch.unchanged import check_unchanged
from stream.run_batch.wanted import Wanted


@contextmanager
def opened_files(
    wanted: Wanted, folder: BatchFolder, state: State
) -> Iterator[tuple[Answers, InOrder | None]]:
    """As they come: straight to the output. In order, or as a table: first to a file of the batch's own."""
    refuse_shortened(wanted, folder, state)
    output, errors = wanted.output, wanted.errors or wanted.output
    table = wanted.output_format != "jsonl"
    if not table and not wanted.ordered:
        with closing(Answers(folder.index, state.rows, output, errors, state.sizes)) as answers:
            yield answers, None
        return
    for path in (folder.arrived, folder.cells):
        _make_private(path)
    if table:
        output = errors = folder.cells
    begin = (state.ordered, state.ordered_sizes)
    with (
        closing(Answers(folder.index, state.rows, folder.arrived, folder.arrived, state.sizes)) as answers,
        closing(InOrder(answers, output, errors, begin, cells_line if table else bytes)) as in_order,
    ):
        yield answers, in_order


def refuse_shortened(wanted: Wanted, folder: BatchFolder, state: State) -> None:
    """UsageError where a file has not all that the state says. Nothing is opened for writing before."""
    table = wanted.output_format != "jsonl"
    output, errors = wanted.output, wanted.errors or wanted.output
    if state.done and table:
        check_there(output)
        return
    if table:
        output = errors = folder.cells
    came = (folder.arrived, folder.arrived) if table or wanted.ordered else (output, errors)
    sizes = [*zip(came, state.sizes.both, strict=True)]
    if table or wanted.ordered:
        sizes += zip((output, errors), state.ordered_sizes.both, strict=True)
    for path, size in sizes:
        check_kept(path, size)
    if any(size for _, size in sizes):
        check_kept(folder.index, index_bytes(state.rows), whole_lines=False)


def write_output(wanted: Wanted, folder: BatchFolder, state: State) -> None:
    """What is written at the end only: a table. InputChanged where its rows are not those that were asked."""
    refuse_shortened(wanted, folder, state)
    check_unchanged(wanted.input, state)
    if wanted.output_format == "jsonl":
        return
    source = None if wanted.input_format == "jsonl" else wanted.table
    names = (wanted.answer_column, wanted.error_column)
    output = (wanted.output, wanted.output_format)
    write_table(source, folder.cells, output, names, lambda: check_unchanged(wanted.input, state))


def _make_private(path: Path) -> None:
    os.close(open_private(path))
