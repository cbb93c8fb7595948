"""Texts with columns in braces: `Classify: {text}`. Two braces stand for one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any

from stream.config.findings import nearest
from stream.errors import UsageError


@dataclass(frozen=True, slots=True)
class Template:
    """Literal texts, each followed by a column or by nothing."""

    pieces: tuple[tuple[str, str | None], ...]

    @classmethod
    def parse(cls, text: str) -> Template:
        """UsageError for braces that name no column."""
        try:
            pieces = tuple(_piece(text, *found) for found in Formatter().parse(text))
        except ValueError as wrong:
            raise UsageError(_words(text, str(wrong))) from wrong
        return cls(pieces)

    @property
    def columns(self) -> Sequence[str]:
        return [column for _, column in self.pieces if column is not None]

    def fill(self, row: Mapping[str, object]) -> str:
        """The text of one row; nothing stands for a value that is not there."""
        return "".join(
            literal if column is None else literal + as_text(row[column]) for literal, column in self.pieces
        )


def as_text(value: object) -> str:
    """A cell as a prompt shows it."""
    return "" if value is None else str(value)


def fill_value(value: Any, row: Mapping[str, object]) -> Any:
    """A JSON value with the columns in its texts filled in; a text that is one column alone becomes its value."""
    if isinstance(value, Template):
        alone = value.pieces[0][1] if len(value.pieces) == 1 and not value.pieces[0][0] else None
        return value.fill(row) if alone is None else row[alone]
    if isinstance(value, dict):
        return {name: fill_value(inner, row) for name, inner in value.items()}
    return [fill_value(inner, row) for inner in value] if isinstance(value, list) else value


def parse_value(value: Any) -> Any:
    """A JSON value with each text in it as a template."""
    if isinstance(value, str):
        return Template.parse(value)
    if isinstance(value, dict):
        return {name: parse_value(inner) for name, inner in value.items()}
    return [parse_value(inner) for inner in value] if isinstance(value, list) else value


def columns_in(value: Any) -> Iterator[str]:
    """All columns that a value made by `parse_value` names."""
    if isinstance(value, Template):
        yield from value.columns
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from columns_in(inner)


def check_columns(wanted: Iterator[str] | Sequence[str], there: Sequence[str], path: object) -> None:
    """UsageError with the nearest name for a column that the table does not have."""
    for column in wanted:
        if column not in there:
            raise UsageError(f"{path} has no column '{column}'{nearest(column, there)}")


def _piece(
    text: str, literal: str, name: str | None, form: str | None, conversion: str | None
) -> tuple[str, str | None]:
    if name is None:
        return literal, None
    if not name or form or conversion:
        shown = name + (f"!{conversion}" if conversion else "") + (f":{form}" if form else "")
        raise UsageError(_words(text, f"{{{shown}}} is not the name of a column"))
    return literal, name


def _words(text: str, why: str) -> str:
    return f"template {text!r:.80}: {why}; write {{column}} for a column, {{{{ and }}}} for braces"
