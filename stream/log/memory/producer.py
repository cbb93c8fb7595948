"""Producers of the log in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, NamedTuple

from stream.background_call import BackgroundCall, Meanwhile, nothing
from stream.errors import LogError
from stream.log import reasons
from stream.log.base import (
    Aborted,
    Fenced,
    GroupStamp,
    OffsetCommit,
    Outcome,
    Output,
    Partition,
    Success,
    Unknown,
    nowhere,
)
from stream.log.limits import check_offsets
from stream.log.memory.broker import Coordinator, Fault, MemoryBroker
from stream.log.memory.partition import MemoryTransaction
from stream.log.plain import Delivery


class NativeStamp(NamedTuple):
    """What a memory consumer puts into `GroupStamp.native`."""

    group: str
    generation: int
    member_id: str


class _Ended(Exception):
    """The transaction has its outcome."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


class MemoryProducer:
    """A `LogProducer`. Between two steps others may run: `reach` may raise and so leave the transaction open."""

    def __init__(self, broker: MemoryBroker, transactional_id: str) -> None:
        self._broker: Final = broker
        self._coordinator: Final[Coordinator] = broker.coordinator(transactional_id)
        self._epoch: int | None = None
        #: An outcome was unknown: this client must be started again.
        self._replace = False
        self._waiting: Final = BackgroundCall("transactions")
        self.lives = 0

    def start(self, timeout_s: float) -> None:  # noqa: ARG002  (memory answers at once)
        with self._broker.changed:
            self._broker.end(self._coordinator, commit=False)
            self._epoch = self._coordinator.begin_epoch()
            self.lives += 1
            self._replace = False

    def publish(
        self,
        outputs: Sequence[Output],
        offsets: Sequence[OffsetCommit],
        group: GroupStamp | None,
        *,
        attribute: bool = False,
        reach: Callable[[str], None] = nowhere,
        while_waiting: Meanwhile = nothing,
        life: int | None = None,
    ) -> Outcome:
        check_offsets(offsets, group)
        if self._epoch is None:
            raise LogError("publish before start")
        if group is not None and not group.valid:
            return Aborted(reasons.STALE_MEMBER, {})
        try:
            self._begin(life)
            reach("begun")
            self._produce(outputs, attribute=attribute)
            reach("produced")
        except _Ended as ended:
            return ended.outcome
        return self._waiting.make(partial(self._finish, offsets, group, reach), while_waiting)

    def _finish(
        self, offsets: Sequence[OffsetCommit], group: GroupStamp | None, reach: Callable[[str], None]
    ) -> Outcome:
        try:
            if offsets and group is not None:
                self._send_offsets(offsets, group)
            reach("offsets_sent")
            self._commit()
            reach("committed")
        except _Ended as ended:
            return ended.outcome
        return Success()

    def is_fenced(self, group: GroupStamp) -> bool:  # noqa: ARG002
        with self._broker.changed:
            return self._epoch != self._coordinator.epoch

    def close(self) -> None:
        """An open transaction stays open: a process that died leaves it so too."""
        self._epoch = None

    def _begin(self, life: int | None) -> None:
        if self._replace:
            # As the real one after a time-out: a new client, the same id, before the next begin.
            self.start(0)
        if life not in (None, self.lives):
            raise _Ended(Unknown(reasons.RENEWED))
        with self._broker.changed:
            self._check_epoch()
            # One that a `reach` left open is ours to end.
            self._broker.end(self._coordinator, commit=False)
            self._coordinator.open = MemoryTransaction()

    def _produce(self, outputs: Sequence[Output], *, attribute: bool) -> None:
        with self._broker.changed:
            self._check_epoch()
            places = [self._broker.place(output) for output in outputs]
            failed = self._failures(outputs, places)
            for place, output in enumerate(outputs):
                if place not in failed:
                    self._coordinator.touched.add(places[place])
                    self._broker.append(output, places[place], self._coordinator.open)
            if failed:
                [(cause, _)] = Counter(failed.values()).most_common(1)
                self._abort(Aborted(cause, failed if attribute else {}, delivery=True))

    def _failures(self, outputs: Sequence[Output], places: Sequence[Partition]) -> dict[int, str]:
        """A refused record takes the others of its partition with it: they travel as one batch."""
        refused = {
            i: reason
            for i, output in enumerate(outputs)
            if (reason := self._broker.refuses(output, places[i]))
        }
        batches = {places[i]: reason for i, reason in refused.items() if reason != reasons.UNKNOWN_PARTITION}
        return {i: batches[place] for i, place in enumerate(places) if place in batches} | refused

    def _send_offsets(self, offsets: Sequence[OffsetCommit], group: GroupStamp) -> None:
        stamp = group.native
        if not isinstance(stamp, NativeStamp):
            raise TypeError("a stamp of another log")
        with self._broker.changed:
            self._check_epoch()
            refusal = self._broker.group(stamp.group).refuses(group.generation, group.member_id)
            if refusal is not None:
                self._abort(Aborted(refusal, {}))
            self._broker.stage(self._coordinator, stamp.group, list(offsets))

    def _commit(self) -> None:
        with self._broker.changed:
            self._check_epoch()
            fault = self._coordinator.faults.popleft() if self._coordinator.faults else None
            if fault is Fault.ABORTED:
                self._abort(Aborted("injected", {}))
            if fault is not Fault.OPEN_UNKNOWN:
                self._broker.end(self._coordinator, commit=True)
        if fault is not None:
            self._replace = True
            raise _Ended(Unknown("timed_out"))

    def _abort(self, outcome: Outcome) -> None:
        self._broker.end(self._coordinator, commit=False)
        raise _Ended(outcome)

    def _check_epoch(self) -> None:
        if self._epoch != self._coordinator.epoch:
            raise _Ended(Fenced("fenced"))
        if self._coordinator.expired:
            raise _Ended(Unknown("invalid_producer_epoch"))


class MemoryPlainProducer:
    """A `PlainProducer`: delivered at once, reported at `flush`."""

    def __init__(self, broker: MemoryBroker) -> None:
        self._broker = broker
        self._reports: list[Callable[[], None]] = []

    def send(self, output: Output, on_delivery: Callable[[Delivery], None] | None = None) -> None:
        with self._broker.changed:
            place = self._broker.place(output)
            reason = self._broker.refuses(output, place)
            offset = self._broker.append(output, place, None) if reason is None else -1
        if on_delivery is not None:
            self._reports.append(lambda: on_delivery(Delivery(*place, offset, reason)))

    def flush(self, timeout_s: float) -> int:  # noqa: ARG002
        reports, self._reports = self._reports, []
        for report in reports:
            report()
        return 0

    def close(self) -> None:
        """Nothing is held."""
