"""What a request says without effect: collected while it is read, so that the result can name it."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from schemas.errors import BadRecord
from schemas.fields.level import Level

#: Paths that a result names; the count is exact all the same.
PATHS_MAX: Final = 20
PATH_CHARS_MAX: Final = 200
_encode: Final = msgspec.json.Encoder().encode


class Ignored:
    """Paths of fields without effect. Where unknown fields are refused, the first one is a BadRecord."""

    __slots__ = ("_null_is_absent", "_refuse_unknown", "count", "paths")

    def __init__(self, refuse_unknown: bool = False, null_is_absent: bool = False) -> None:
        """`null_is_absent`: also of a field that nobody knows. An Avro record has every field of its schema."""
        self.paths: list[str] = []
        self.count = 0
        self._refuse_unknown = refuse_unknown
        self._null_is_absent = null_is_absent

    def sift(self, level: Level, given: dict[str, Any], where: str) -> None:
        """Takes out of `given` what is not honoured there; BadRecord for what is refused."""
        if given.keys() <= level.honoured:
            return
        for name in [name for name in given if name not in level.honoured]:
            self.judge(level, name, given.pop(name), where)

    def judge_all(self, level: Level, given: Mapping[str, Any], where: str) -> None:
        """As `sift`, where what is honoured was read elsewhere."""
        for name, value in given.items():
            if name not in level.honoured:
                self.judge(level, name, value, where)

    def judge(self, level: Level, name: str, value: Any, where: str) -> None:
        """A field that is not honoured."""
        if level.is_neutral(name, value) or (value is None and self._null_is_absent):
            return
        path = path_of(where, name)
        level.refuse(name, path)
        if self._refuse_unknown and name not in level.fields:
            raise BadRecord.invalid(f"{path}: unknown field of a {level.title}{_nearest(name, level.fields)}")
        self.add(path)

    def add(self, path: str) -> None:
        """A path without effect, known or not."""
        self.count += 1
        if len(self.paths) < PATHS_MAX:
            self.paths.append(path)


def path_of(where: str, name: str) -> str:
    """`$.body.name`, or `$.body["odd name"]`; a long one is cut."""
    path = f"{where}.{name}" if name.isidentifier() else f"{where}[{_encode(name).decode()}]"
    return path if len(path) <= PATH_CHARS_MAX else path[: PATH_CHARS_MAX - 1] + "…"


def _nearest(name: str, known: Iterable[str]) -> str:
    found = difflib.get_close_matches(name[:PATH_CHARS_MAX], list(known), n=1)
    return f'; nearest is "{found[0]}"' if found else "; this input takes known fields only"
