"""Records in and outputs back, while somebody watches."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.progress import Progress, TaskID

from stream.config.settings import Settings
from stream.demo.samples import Sample
from stream.demo.tally import Outcome, read_outcome
from stream.errors import StreamError, WaitedTooLong
from stream.log.base import Log, Output
from stream.log.plain import Delivery

#: Without any new output for so long the demo gives up: an engine starts twice in it.
PATIENCE_S: Final = 240.0
FLUSH_TIMEOUT_S: Final = 30.0
POLL_S: Final = 0.25
RECORDS_MAX: Final = 500
#: After the last output that is due: one that is not.
TOO_MANY_S: Final = 1.0


class Sent(NamedTuple):
    """A produced sample: where it lies, and what to call it."""

    source: str
    name: str


def feed(log: Log, lines: Sequence[Sample]) -> list[Sent]:
    """Produce them to the input topic; StreamError when one did not arrive."""
    topic, sent = Settings().inputs[0].pattern, list[Sent]()
    producer = log.plain_producer()

    def delivered(name: str, delivery: Delivery) -> None:
        if delivery.error is not None:
            raise StreamError(f"{name} was not delivered: {delivery.error}")
        sent.append(Sent(f"{delivery.topic}/{delivery.partition}/{delivery.offset}", name))

    for sample in lines:
        name = _name(sample)
        producer.send(
            Output(topic, sample.key, sample.value, sample.headers),
            lambda delivery, name=name: delivered(name, delivery),  # type: ignore[misc]
        )
    producer.flush(FLUSH_TIMEOUT_S)
    producer.close()
    return sent


def watch(log: Log, until: int, bar: Progress, task: TaskID) -> list[Outcome]:
    """Read results and dead letters from the start until `until` are there (all: then a moment for one too many)."""
    outputs = Settings().outputs
    reader = log.reader([outputs.results, outputs.dead_letters])
    begin = heard = time.monotonic()
    outcomes: list[Outcome] = []
    while len(outcomes) < until:
        records = reader.poll(RECORDS_MAX, POLL_S).records
        outcomes += [read_outcome(record.value(), record.headers()) for record in records]
        now = time.monotonic()
        heard = now if records else heard
        # Each watch reads from the start: what a person has seen done stays done.
        done = max(len(outcomes), bar.tasks[0].completed)
        bar.update(task, completed=done, rate=f"{done / max(now - begin, POLL_S):.0f} a second")
        if now - heard > PATIENCE_S:
            raise WaitedTooLong(f"{len(outcomes)} of {until} outputs, then none for {PATIENCE_S:.0f} s")
    if until == bar.tasks[0].total:
        late = reader.poll(RECORDS_MAX, TOO_MANY_S).records
        outcomes += [read_outcome(record.value(), record.headers()) for record in late]
    reader.close()
    return outcomes


def _name(sample: Sample) -> str:
    found = re.search(rb'"custom_id":"([^"]+)"', sample.value)
    return found.group(1).decode() if found else sample.value.decode(errors="replace")[:30]
