"""Records in and outputs back, while somebody watches."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.progress import Progress, TaskID

from stream.client.answer import Answer
from stream.client.client import Client
from stream.client.submission import Addressed
from stream.errors import WaitedTooLong

#: Without any new output for so long the demo gives up: an engine starts twice in it.
PATIENCE_S: Final = 240.0
POLL_S: Final = 0.25
#: After the last output that is due: one that is not.
TOO_MANY_S: Final = 1.0


class Sent(NamedTuple):
    """A produced sample: where it lies, and what to call it."""

    source: str
    name: str


def feed(client: Client, lines: Sequence[Addressed]) -> list[Sent]:
    """Produce them to the input topic; NotDelivered when one did not arrive."""
    sources = client.submit(lines)
    return [Sent(str(source), _name(line)) for source, line in zip(sources, lines, strict=True)]


def watch(client: Client, until: int, bar: Progress, task: TaskID) -> list[Answer]:
    """Read results and dead letters from the start until `until` are there (all: then a moment for one too many)."""
    begin = heard = time.monotonic()
    outcomes: list[Answer] = []
    with client.answers(begin="earliest") as answers:
        while len(outcomes) < until:
            came = answers.come(POLL_S)
            outcomes += came
            now = time.monotonic()
            heard = now if came else heard
            # Each watch reads from the start: what a person has seen done stays done.
            done = max(len(outcomes), bar.tasks[0].completed)
            bar.update(task, completed=done, rate=f"{done / max(now - begin, POLL_S):.0f} a second")
            if now - heard > PATIENCE_S:
                raise WaitedTooLong(f"{len(outcomes)} of {until} outputs, then none for {PATIENCE_S:.0f} s")
        if until == bar.tasks[0].total:
            outcomes += answers.come(TOO_MANY_S)
    return outcomes


def _name(sample: Addressed) -> str:
    found = re.search(rb'"custom_id":"([^"]+)"', sample.value)
    return found.group(1).decode() if found else sample.value.decode(errors="replace")[:30]
