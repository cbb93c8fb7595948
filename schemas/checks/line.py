"""A parsed line -> the validated request."""

from __future__ import annotations

from typing import Final, TypeVar

import msgspec

from schemas.checks.body import check_body
from schemas.errors import BadRecord
from schemas.fields.bodies import BODY_OF
from schemas.fields.ignored import Ignored
from schemas.request import Body, Line, Request
from schemas.task import TASK_OF_URL, Task

METHOD: Final = "POST"
#: Usual fields that a task does not know.
_FOREIGN: Final[dict[Task, tuple[str, ...]]] = {
    task: tuple(name for name in Body.__struct_fields__ if name not in level.honoured)
    for task, level in BODY_OF.items()
}
AnyBody = TypeVar("AnyBody", bound=Body)


def task_of(url: str) -> Task:
    """BadRecord (`invalid`) where it is no url of ours."""
    task = TASK_OF_URL.get(url)
    if task is None:
        raise BadRecord.invalid(f"$.url: {_short(url)} is unknown; right is one of {', '.join(TASK_OF_URL)}")
    return task


def request_of(line: Line, refuse_unknown: bool = False) -> Request:
    """Of a line that has the usual fields only."""
    task = task_of(line.url)
    found = Ignored(refuse_unknown=refuse_unknown)
    body = line.body
    for name in _FOREIGN[task]:
        if getattr(body, name) is not None:
            found.judge(BODY_OF[task], name, getattr(body, name), "$.body")
            body = msgspec.structs.replace(body, **{name: None})
    return checked(task, body, line, found)


def without_foreign(task: Task, body: AnyBody) -> AnyBody:
    """Fields of other tasks are taken out; they were judged."""
    foreign = [name for name in _FOREIGN[task] if getattr(body, name) is not None]
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
