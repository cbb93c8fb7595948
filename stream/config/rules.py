"""What a value of the configuration may be: a rule gives it as the settings hold it, or raises ValueError."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, TypeVar

from stream.config.findings import nearest

T = TypeVar("T")
Rule = Callable[[object], T]

#: Whole numbers from here on are not told in full.
_TOLD_BELOW: Final = 10**30

_KINDS: Final[dict[type, str]] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}


def text(bytes_max: int = 4096, pattern: str | None = None, like: str = "") -> Rule[str]:
    """Text that is not empty; `like` says in words what `pattern` wants."""

    def rule(value: object) -> str:
        taken = _typed(value, str)
        if not taken:
            raise ValueError("must not be empty")
        if len(taken.encode()) > bytes_max:
            raise ValueError(f"must be at most {bytes_max} bytes long")
        if pattern is not None and not re.fullmatch(pattern, taken):
            raise ValueError(f'must be {like}, not "{taken}"')
        return taken

    return rule


def whole(low: int, high: int) -> Rule[int]:
    """A whole number within bounds, both included."""

    def rule(value: object) -> int:
        taken = _typed(value, int)
        if not low <= taken <= high:
            raise ValueError(f"must be from {low} to {high}, not {_told(taken)}")
        return taken

    return rule


def number(low: float, high: float) -> Rule[float]:
    """A number within bounds, both included; whole ones count as well, NaN does not."""

    def rule(value: object) -> float:
        taken: float = value if type(value) is int else _typed(value, float)
        if not low <= taken <= high:
            raise ValueError(f"must be from {low:g} to {high:g}, not {_told(taken)}")
        return taken

    return rule


def one_of(names: Collection[str], later: Collection[str] = ()) -> Rule[Any]:
    """One of `names`; those of later versions are refused as such."""

    def rule(value: object) -> str:
        taken = _typed(value, str)
        if taken in later:
            raise ValueError(f'"{taken}" is not in this version; there are: {", ".join(sorted(names))}')
        if taken not in names:
            raise ValueError(f'does not know "{taken}"{nearest(taken, names)}')
        return taken

    return rule


def texts(each: Rule[str]) -> Rule[tuple[str, ...]]:
    """A list of texts with at least one."""

    def rule(value: object) -> tuple[str, ...]:
        taken: list[object] = _typed(value, list)
        if not taken:
            raise ValueError("must name at least one")
        return tuple(each(item) for item in taken)

    return rule


def any_table(value: object) -> Mapping[str, Any]:
    """A table that somebody else checks."""
    taken: Mapping[str, Any] = _typed(value, dict)
    return taken


def _told(number: float) -> str:
    """A number for a finding. TOML's whole numbers have no bound, those that Python turns into text have one."""
    if isinstance(number, int) and abs(number) >= _TOLD_BELOW:
        return "a number of very many digits"
    return f"{number:g}" if isinstance(number, float) else str(number)


def _typed(value: object, kind: type[T]) -> T:
    # A bool is an int for Python, not for a person.
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"must be {_KINDS[kind]}, not {_kind(value)}")
    return value


def _kind(value: object) -> str:
    return _KINDS.get(type(value), f"a {type(value).__name__}")
