"""What a person sees of the demo: progress while it runs, then results, dead letters and the tally."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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

from stream.demo.reviews import REVIEWS
from stream.demo.tally import Outcome, Tally

ROWS_MAX = 12


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


def results_table(answers: Mapping[str, str]) -> Table:
    """Reviews with both answers; `answers` is custom_id -> text."""
    table = Table(title=f"Results (the first {ROWS_MAX} of {len(REVIEWS)} reviews)", title_justify="left")
    table.add_column("review", max_width=44)
    table.add_column("mood")
    table.add_column("summary", max_width=48)
    for place, review in enumerate(REVIEWS[:ROWS_MAX]):
        mood, summary = answers.get(f"mood-{place:02d}", ""), answers.get(f"summary-{place:02d}", "")
        table.add_row(review, mood, " ".join(summary.split()))
    return table


def dead_letters_table(dead: Sequence[tuple[str, Outcome]]) -> Table:
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
        f"{sums.inputs} records in: {sums.results} results + {sums.dead_letters} dead letters in {seconds:.1f} s",
        f"without output: {sums.missing}   with more than one: {sums.repeated}   of nobody: {sums.strangers}",
    ]
    if killed:
        lines.append(f"killed in the middle: {killed}; engine calls repeated: {repeats}")
    lines.append("each input has exactly one output" if sums.exact else "NOT EXACT: this is a defect")
    return lines
