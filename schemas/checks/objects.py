"""Small objects of a body whose values are checked by name."""

from __future__ import annotations

from typing import Any

from schemas.errors import BadRecord
from schemas.fields.ignored import Ignored
from schemas.fields.structures import CHAT_TEMPLATE_KWARGS, REPETITION_DETECTION
from schemas.limits import PATTERN_TOKENS_MAX, TOKENS_MAX


def check_kwargs(given: dict[str, Any], found: Ignored) -> None:
    """`chat_template_kwargs`: flags only."""
    where = "$.body.chat_template_kwargs"
    found.sift(CHAT_TEMPLATE_KWARGS, given, where)
    _drop_nulls(given)
    for name, value in given.items():
        if not isinstance(value, bool):
            raise BadRecord.invalid(f"{where}.{name}: wrong; right is true or false")


def check_repetition(given: dict[str, Any], found: Ignored) -> None:
    """`repetition_detection`."""
    where = "$.body.repetition_detection"
    found.sift(REPETITION_DETECTION, given, where)
    _drop_nulls(given)
    for name, value in given.items():
        most = TOKENS_MAX if name == "min_count" else PATTERN_TOKENS_MAX
        if value.__class__ is not int or not 0 <= value <= most:
            raise _wrong(where, name)
    largest = given.get("max_pattern_size", 0)
    if given.get("min_pattern_size", 0) > largest:
        raise _wrong(where, "min_pattern_size")
    if largest and given.get("min_count", 0) < 2:
        raise _wrong(where, "min_count")


def _drop_nulls(given: dict[str, Any]) -> None:
    """Null is the same as absent."""
    for name in [name for name, value in given.items() if value is None]:
        del given[name]


def _wrong(where: str, name: str) -> BadRecord:
    return BadRecord.invalid(f"{where}.{name}: wrong; right is {REPETITION_DETECTION.fields[name].words}")
