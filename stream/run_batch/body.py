"""The request of one row of a table, made from options and templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from schemas.task import TASK_OF_URL, Task
from stream.errors import UsageError
from stream.run_batch.template import columns_in, fill_value, parse_value

URL_OF: Final[Mapping[Task, str]] = {task: url for url, task in TASK_OF_URL.items()}
#: The field of a body that tells its task.
_TASK_BY_FIELD: Final = {
    "messages": Task.CHAT,
    "prompt": Task.COMPLETION,
    "input": Task.EMBEDDING,
}


@dataclass(frozen=True, slots=True)
class BodyTemplate:
    """A body with columns in its texts, and where it goes."""

    url: str
    body: dict[str, Any]

    @property
    def columns(self) -> Sequence[str]:
        return list(dict.fromkeys(columns_in(self.body)))

    def fill(self, row: Mapping[str, object]) -> dict[str, Any]:
        filled: dict[str, Any] = fill_value(self.body, row)
        return filled


def body_template(
    *,
    model: str,
    base: dict[str, Any],
    prompt: str | None = None,
    system: str | None = None,
    tokens_max: int | None = None,
    choices: Sequence[str] = (),
) -> BodyTemplate:
    """`base` is the content of --body, the rest goes on top of it. UsageError where they make no request."""
    body = {**base, "model": model}
    if prompt is not None:
        told = [] if system is None else [{"role": "system", "content": system}]
        body["messages"] = [*told, {"role": "user", "content": prompt}]
    if tokens_max is not None:
        body["max_tokens"] = tokens_max
    parsed = parse_value(body)
    if choices:
        # Texts as they are: a choice may hold braces.
        parsed["structured_outputs"] = {"choice": list(choices)}
    return BodyTemplate(URL_OF[_task(body)], parsed)


def read_body(path: Path) -> dict[str, Any]:
    """The file of --body; UsageError says what is wrong with it."""
    try:
        found = msgspec.json.decode(path.read_bytes())
    except OSError as wrong:
        raise UsageError(f"--body {path} cannot be read: {wrong.strerror}") from wrong
    except (msgspec.DecodeError, RecursionError) as wrong:
        raise UsageError(f"--body {path} is not JSON: {wrong}") from wrong
    if not isinstance(found, dict):
        raise UsageError(f"--body {path} is not a JSON object; the body of a request is right")
    return found


def _task(body: Mapping[str, Any]) -> Task:
    found = [task for field, task in _TASK_BY_FIELD.items() if field in body]
    if len(found) != 1:
        raise UsageError(
            'nothing says what to ask: give --prompt "… {column} …", or --body FILE with one of '
            f"{', '.join(_TASK_BY_FIELD)}"
        )
    return found[0]
