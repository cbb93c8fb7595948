"""What outputs tell of their record: from its work headers and, where it ran, from how its call ended."""

from __future__ import annotations

from schemas.dead_letter import DeadLetter
from schemas.failure import Failure
from schemas.own_headers import carried_of
from schemas.result import NO_TOKENS, Facts
from schemas.source import Source
from schemas.times import Times
from schemas.work_record import WorkRecord
from stream.exactly_once.work_item import WorkItem
from stream.log.readable import headers_told
from workers.call import Finished


def facts_of(record: WorkItem, now_ms: int) -> Facts:
    """`now_ms` counts as the end of a record that never ran."""
    work, finished = record.work, record.finished
    queued_ms = record.queued_ms
    if work is None:
        return Facts(_position(record), None, None, record.lane, 0)
    if finished is None:
        times = Times.since(work.source_timestamp_ms, queued_ms=queued_ms, done_ms=now_ms)
        return Facts(work.source, work.endpoint, work.tenant, work.lane, record.prior_attempts, times)
    cached = finished.tokens.cached
    return Facts(
        work.source,
        work.endpoint,
        work.tenant,
        work.lane,
        finished.attempts,
        _times(work, finished, queued_ms),
        {"engine": cached} if cached else NO_TOKENS,
        finished.ignored,
        finished.ignored_count,
    )


def _times(work: WorkRecord, finished: Finished, queued_ms: int) -> Times:
    """Clocks of two machines may disagree: never below 0."""
    began_ms = work.source_timestamp_ms
    first_ms = finished.first_token_ms
    return Times(
        _since(began_ms, queued_ms),
        _since(began_ms, finished.started_ms) if finished.attempts else None,
        None if first_ms is None else _since(began_ms, first_ms),
        _since(began_ms, finished.done_ms),
    )


def _since(began_ms: int, at_ms: int) -> int:
    return at_ms - began_ms if at_ms > began_ms else 0


def source_timestamp_ms(record: WorkItem) -> int:
    return record.queued_ms if record.work is None else record.work.source_timestamp_ms


def letter_of(record: WorkItem, group: str, failure: Failure) -> DeadLetter:
    """The original, and why it has no answer. A record that is none of ours stands for itself."""
    work, message = record.work, record.message
    if work is None:
        assert message is not None, "what could not be read is kept as it came"
        headers, omitted_bytes = headers_told(message)
        return DeadLetter(
            message.key(),
            message.value(),
            carried_of(headers),
            _position(record),
            record.queued_ms,
            group,
            failure,
            lane=record.lane,
            headers_omitted=omitted_bytes,
        )
    return DeadLetter(
        work.key,
        work.value,
        work.carried,
        work.source,
        work.source_timestamp_ms,
        group,
        failure,
        attempts=record.prior_attempts if record.finished is None else record.finished.attempts,
        replay=work.replay,
        tenant=work.tenant,
        lane=work.lane,
        endpoint=work.endpoint,
        format=work.format,
    )


def _position(record: WorkItem) -> Source:
    return Source(*record.place, record.offset)
