"""What a person sees of the demo: progress while it runs, then results, dead letters and the tally."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from stream.client.answer import Answer
from stream.demo.reviews import REVIEWS
from stream.demo.tally import Tally

ROWS = 12


class Shown(NamedTuple):
    """How many reviews a person sees, and whose answers they are."""

    rows: int
    engine: str


def progress_bar(console: Console) -> Progress:
    """Done of all, rate and time left."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
    )


def results_table(answers: Mapping[str, str], shown: Shown) -> Table:
    """Reviews with both answers, below the custom_id of each; `answers` is custom_id -> text."""
    rows = min(shown.rows, len(REVIEWS))
    simulated = ", simulated answers" if shown.engine == "simulated" else ""
    table = Table(title=f"Results ({rows} of {len(REVIEWS)} reviews{simulated})", title_justify="left")
    table.add_column("custom_id", no_wrap=True)
    table.add_column("review", max_width=44)
    table.add_column("mood", no_wrap=True)
    table.add_column("summary", max_width=48)
    for place, review in enumerate(REVIEWS[:rows]):
        ids = (f"mood-{place:02d}", f"summary-{place:02d}")
        mood, summary = (answers.get(name, "") for name in ids)
        table.add_row("\n".join(ids), review, mood, " ".join(summary.split()))
    return table


def dead_letters_table(dead: Sequence[tuple[str, Answer]]) -> Table:
    """(what was sent, its end) rows."""
    table = Table(title="Dead letters", title_justify="left")
    for column in ("record", "class", "stage"):
        table.add_column(column)
    table.add_column("cause", max_width=70)
    for record, outcome in dead:
        table.add_row(record, outcome.error_class, outcome.stage, outcome.message)
    return table


def tally_lines(sums: Tally, seconds: float, killed: str | None, repeats: int) -> list[str]:
    """The last words."""
    lines = [
        f"{sums.inputs} records in: {sums.results} results + {sums.dead_letters} dead letters in {seconds:.1f} s "
        f"({sums.inputs / max(seconds, 0.1):.0f} a second)",
        f"without output: {sums.missing}   with more than one: {sums.repeated}   of nobody: {sums.strangers}",
    ]
    if killed:
        lines.append(f"killed in the middle: {killed}; engine calls repeated: {repeats}")
    lines.append("each input has exactly one output" if sums.exact else "NOT EXACT: this is a defect")
    return lines
