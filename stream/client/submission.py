"""Lines on their way in: each in a place of its own, or all of them in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Final, NamedTuple

import msgspec

from schemas.headers import Headers
from schemas.source import Source
from stream.client.addressing import Addressing
from stream.client.errors import NotDelivered, NotSubmitted, OutcomeUnknown
from stream.client.lines import Line
from stream.client.producing import DELIVERY_S_MAX, Producing
from stream.client.session import NoSession
from stream.errors import LogFenced, UsageError
from stream.log.base import Aborted, Fenced, Log, Output, Success, Unknown
from stream.log.plain import Delivery


class Addressed(NamedTuple):
    """A line with a key and headers of its own."""

    value: bytes
    key: bytes | None = None
    headers: Headers = []  # noqa: RUF012  (never changed)


#: One line: bytes and text as they are, anything else as JSON.
RequestLine = bytes | str | Mapping[str, Any] | Addressed
#: Of one submission, and of one in a transaction: more are a feed's.
LINES_MAX: Final = 100_000
TOGETHER_MAX: Final = 10_000
START_S: Final = 30.0


def encoded(lines: Iterable[RequestLine], lines_max: int, addressing: Addressing) -> list[Addressed]:
    """UsageError for more than `lines_max`."""
    values: list[Addressed] = []
    for line in lines:
        if len(values) == lines_max:
            raise UsageError(f"more than {lines_max} lines are submitted at once: use a feed")
        try:
            values.append(_addressed(line, addressing))
        except NoSession as wrong:
            raise UsageError(f"line {len(values)} {wrong}; nothing was sent") from wrong
    return values


def submit_each(log: Log, topic: str, values: Sequence[Addressed], bytes_max: int) -> list[Source]:
    """Where each line is, in their order; NotDelivered names those that did not arrive."""
    sources: dict[int, Source] = {}
    problems: dict[int, str] = {}

    def delivered(number: int, delivery: Delivery) -> None:
        if delivery.error is None:
            sources[number - 1] = Source(delivery.topic, delivery.partition, delivery.offset)

    def complain(number: int, why: str) -> None:
        problems[number - 1] = why

    with closing(log.plain_producer(DELIVERY_S_MAX)) as producer:
        sending = Producing(
            producer, topic, Addressing(), complain=complain, complaints_max=len(values), delivered=delivered
        )
        sending.run(_numbered(values, bytes_max))
    if problems:
        raise NotDelivered(problems, sources)
    return [sources[number] for number in range(len(values))]


def submit_together(log: Log, topic: str, values: Sequence[Addressed], transactional_id: str) -> None:
    """All of them or none."""
    outputs = [Output(topic, key, value, headers) for value, key, headers in values]
    with closing(log.producer(transactional_id)) as producer:
        producer.start(START_S)
        outcome = producer.publish(outputs, [], None)
    match outcome:
        case Success():
            return
        case Aborted():
            raise NotSubmitted(
                f"{topic} did not take the {len(values)} lines, none is there: {outcome.cause}"
            )
        case Unknown():
            raise OutcomeUnknown(
                f"nobody can say whether the {len(values)} lines are on {topic} ({outcome.cause}): look for one of "
                "them before they are sent again"
            )
        case Fenced():
            raise LogFenced(f"another process took the transactional id {transactional_id}")


def _numbered(values: Sequence[Addressed], bytes_max: int) -> Iterator[Line]:
    for number, (value, key, headers) in enumerate(values, 1):
        yield Line(number, value if len(value) <= bytes_max else None, (key, headers))


def _addressed(line: RequestLine, addressing: Addressing) -> Addressed:
    if isinstance(line, Addressed):
        return line
    value = _bytes(line)
    return Addressed(value, *addressing.of(value))


def _bytes(line: bytes | str | Mapping[str, Any]) -> bytes:
    if isinstance(line, bytes):
        return line
    return line.encode("utf-8") if isinstance(line, str) else msgspec.json.encode(line)
