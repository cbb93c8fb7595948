"""Tables for people: as wide as the terminal, or wide enough where there is none."""

from __future__ import annotations

import sys
from typing import Final

from rich.console import Console
from rich.table import Table

#: Columns of a table that goes into a file or a pipe.
PLAIN_WIDTH: Final = 200


class _Console(Console):
    """Leaves the end of a pipe to the command: rich itself would end the program with 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def print_table(table: Table) -> None:
    """On stdout."""
    width = None if sys.stdout.isatty() else PLAIN_WIDTH
    # Texts are of logs and models: "[/data]" is no markup.
    _Console(width=width, highlight=False, markup=False).print(table)


def table(title: str, *columns: str) -> Table:
    """With its title on the left."""
    return Table(*columns, title=title, title_justify="left")
