"""Polled records into the ledgers: done by the map, adopted, held behind their session, or waiting for a slot."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping

from schemas.errors import ForeignRecord, NewerVersion
from schemas.failure import ErrorClass, Failure, Stage
from schemas.headers import Headers
from schemas.lane import Lane
from schemas.weight import record_weight
from schemas.work_record import parse_work
from stream.errors import MapUnreadable
from stream.exactly_once.transaction import Ledger
from stream.exactly_once.work_item import WorkItem
from stream.log.base import EndOfPartition, LogConsumer, Partition, Polled, Record
from stream.log.overtaken import Overtaken
from stream.log.readable import headers_told, safe_headers
from stream.log.stuck import Stuck
from stream.worker.completion import Completion
from stream.worker.in_flight import InFlightCalls, key_of
from stream.worker.owned_partitions import OwnedPartitions, Quarantine

_LOG = logging.getLogger(__name__)


class Intake:
    """FETCHED or SKIPPED.

    `lane_of` says which lane a work topic is; `ordered`: sessions count; `take_back` ends the death mark of a partition
    that is left; what stands still is tried again after `again_s_max` at the latest.
    """

    def __init__(  # noqa: PLR0913 - its parts, by name
        self,
        share: OwnedPartitions,
        consumer: LogConsumer,
        orphans: InFlightCalls,
        finishing: Completion,
        lane_of: Mapping[str, Lane],
        *,
        ordered: bool,
        clock_s: Callable[[], float],
        again_s_max: float,
        take_back: Callable[[Ledger], None],
        overtaken: Overtaken,
    ) -> None:
        self._share = share
        self._consumer = consumer
        self._orphans = orphans
        self._finishing = finishing
        self._lane_of = lane_of
        self._ordered = ordered
        self._clock_s = clock_s
        self._again_s_max = again_s_max
        self._take_back = take_back
        self._overtaken = overtaken

    def accept(self, polled: Polled) -> None:
        """Records of partitions without a ledger are nobody's: dropped by a revoke, or quarantined."""
        self._overtaken.note(polled.overtaken)
        self._overtaken.read_on()
        ledgers = self._share.ledgers
        for message in polled.records:
            place = (message.topic(), message.partition())
            ledger = ledgers.get(place)  # type: ignore[call-overload]
            if ledger is None or (
                self._share.still.troubles and not self._share.still.takes(Partition(*place))
            ):
                continue
            try:
                self._deliver(message, ledger)
            except NewerVersion as error:
                # It is read on by a newer process, which must not take us for dead, nor convict what runs alone here.
                self._take_back(ledger)
                self.quarantine([Partition(*place)], str(error), "newer_version")
            except MapUnreadable as error:
                self.quarantine([Partition(*place)], str(error))
        if polled.ends:
            self._end(polled.ends)
        for stuck in polled.stuck:
            self._stand_still(stuck)

    def _stand_still(self, stuck: Stuck) -> None:
        """Nothing more of it can be read: what is open there goes on, and the others flow."""
        place = Partition(stuck.topic, stuck.partition)
        ledger = self._share.ledgers.get(place)
        if ledger is None:
            return
        if ledger.pass_done(stuck.offset):  # an operator has skipped it, and older records are still open
            self._consumer.seek(place, ledger.next_seen)
        else:
            self._consumer.pause([place])
            self._share.still.note(stuck, self._clock_s(), self._again_s_max)

    def quarantine(self, partitions: Iterable[Partition], reason: str, cause: str = "map") -> None:
        """Stop reading these, and say why; the others flow."""
        for partition in partitions:
            _LOG.error("%s is quarantined: %s", partition, reason)
            dropped = self._share.drop([partition])
            self._orphans.forget(dropped)
            committed = dropped[0].committed if dropped else None
            self._share.quarantined[partition] = Quarantine(reason, committed, cause)
            self._consumer.pause([partition])

    def _deliver(self, message: Record, ledger: Ledger) -> None:
        offset = message.offset()
        record = WorkItem(message, offset, self._lane_of[ledger.partition.topic], ledger)
        if not ledger.deliver(offset, record):
            return
        value = message.value()
        try:
            work = record.work = parse_work(message.key(), value, _headers(message))
        except ForeignRecord as error:
            self._share.weigh(record, record_weight(message.key(), value, headers_told(message).headers))
            self._finishing.fail(record, Failure(ErrorClass.UNREADABLE, Stage.DECODE, str(error)))
            return
        record.message = None
        self._share.weigh(record, record_weight(work.key, value, work.carried))
        may_start = True
        if self._ordered and work.session is not None:
            record.session = (work.tenant, work.session)
            record.order = self._share.orders[ledger.partition]
            may_start = record.order.admit(record.session, record)
        if offset == ledger.convicted:
            record.prior_attempts = max(1, ledger.deaths_past)
            self._finishing.fail(record, _POISON)
        elif not (self._orphans and self._adopt(record, may_start)) and may_start:
            self._share.waiting[record.lane].append(record)

    def _adopt(self, record: WorkItem, may_start: bool) -> bool:
        """It runs here already, or is done: an earlier assignment of this partition started it."""
        orphan = self._orphans.take(key_of(record))
        if orphan is None:
            return False
        if not may_start:
            self._orphans.cancel([orphan])  # its turn has not come: this run began too early to count
            return True
        record.id, record.finished, record.failure = orphan.id, orphan.finished, orphan.failure
        if orphan.running:
            record.running = True
            self._share.running[record.id] = record
        else:
            self._finishing.done(record)
        return True

    def _end(self, ends: Iterable[EndOfPartition]) -> None:
        for topic, partition, offset in ends:
            ledger = self._share.ledgers.get(Partition(topic, partition))
            if ledger is not None and self._share.still.takes(ledger.partition):
                try:
                    ledger.end(offset)
                except MapUnreadable as error:
                    self.quarantine([ledger.partition], str(error))


def _headers(message: Record) -> Headers:
    """ForeignRecord where a name is not UTF-8."""
    headers = safe_headers(message)
    if headers is None:
        raise ForeignRecord("a header's name is not UTF-8, or there are too many headers")
    return headers


_POISON = Failure(
    ErrorClass.POISON,
    Stage.ENGINE,
    "the worker process died while this record ran alone in it, after earlier deaths",
)
