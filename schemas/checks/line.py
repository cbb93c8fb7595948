"""A parsed line -> the validated request."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeVar

import msgspec

from schemas.checks.body import check_body
from schemas.checks.usual import METHOD
from schemas.errors import BadRecord
from schemas.fields.bodies import BODY_OF
from schemas.fields.ignored import Ignored
from schemas.fields.level import Level
from schemas.request import Body, Line, Request
from schemas.task import TASK_OF_URL, Task

AnyBody = TypeVar("AnyBody", bound=Body)


class _Known(NamedTuple):
    """A task as its url finds it: its own enumeration is slow as a key."""

    task: Task
    level: Level
    #: Usual fields that it does not know.
    foreign: tuple[str, ...]


def _known(task: Task) -> _Known:
    level = BODY_OF[task]
    foreign = tuple(name for name in Body.__struct_fields__ if name not in level.honoured)
    return _Known(task, level, foreign)


_KNOWN: Final[dict[str, _Known]] = {url: _known(task) for url, task in TASK_OF_URL.items()}


def task_of(url: str) -> Task:
    """BadRecord (`invalid`) where it is no url of ours."""
    return _known_by(url).task


def _known_by(url: str) -> _Known:
    known = _KNOWN.get(url)
    if known is None:
        raise BadRecord.invalid(f"$.url: {_short(url)} is unknown; right is one of {', '.join(TASK_OF_URL)}")
    return known


def request_of(line: Line, found: Ignored) -> Request:
    """Of a line that has usual fields only, and perhaps those of another task."""
    known = _known_by(line.url)
    body = line.body
    for name in known.foreign:
        if getattr(body, name) is not None:
            found.judge(known.level, name, getattr(body, name), "$.body")
            body = msgspec.structs.replace(body, **{name: None})
    return checked(known.task, body, line, found)


def without_foreign(url: str, body: AnyBody) -> AnyBody:
    """Fields of other tasks are taken out; they were judged."""
    foreign = [name for name in _KNOWN[url].foreign if getattr(body, name) is not None]
    return msgspec.structs.replace(body, **dict.fromkeys(foreign)) if foreign else body


def checked(task: Task, body: Body, line: Line, found: Ignored) -> Request:
    """BadRecord (`invalid` at validate) says which field, why, and what would be right."""
    if line.method is not None and line.method != METHOD:
        raise BadRecord.invalid(f'$.method: {_short(line.method)} is unknown; right is "{METHOD}"')
    check_body(task, body, found)
    if found.count:
        return Request(task, body, line.custom_id, tuple(found.paths), found.count)
    return Request(task, body, line.custom_id)


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:80] + "…")
