"""The finished answers that wait for a transaction, by lane, in the order in which they became ready."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from schemas.lane import LANES, Lane
from stream.exactly_once.work_item import OWN, WorkItem


class ReadyAnswers:
    """Bounded by the ledgers: every entry is an open record of one of them."""

    def __init__(self) -> None:
        self.lanes: dict[Lane, dict[WorkItem, None]] = {lane: {} for lane in LANES}
        self.size_bytes = 0
        #: Foreign reply topics that answers wait for, with their number.
        self.foreign: dict[str, int] = {}

    def __len__(self) -> int:
        return sum(map(len, self.lanes.values()))

    def __iter__(self) -> Iterator[WorkItem]:
        for answers in self.lanes.values():
            yield from answers

    def add(self, record: WorkItem) -> None:
        self.lanes[record.lane][record] = None
        self.size_bytes += record.size_bytes
        if record.target is not OWN:
            self.foreign[record.target] = self.foreign.get(record.target, 0) + 1

    def remove(self, records: Iterable[WorkItem]) -> None:
        """Those that are not there are passed over."""
        for record in records:
            answers = self.lanes[record.lane]
            if record in answers:
                del answers[record]
                self._forget(record.target, record.size_bytes)

    def rewritten(self, record: WorkItem, target_before: str, bytes_before: int) -> None:
        """An answer's outputs were replaced; it keeps its place."""
        if record in self.lanes[record.lane]:
            self._forget(target_before, bytes_before)
            self.size_bytes += record.size_bytes
            if record.target is not OWN:
                self.foreign[record.target] = self.foreign.get(record.target, 0) + 1

    def _forget(self, target: str, size_bytes: int) -> None:
        self.size_bytes -= size_bytes
        if target is not OWN:
            self.foreign[target] -= 1
            if not self.foreign[target]:
                del self.foreign[target]

    def bound_for(self, topics: Collection[str]) -> list[WorkItem]:
        """Answers that wait for one of these foreign topics."""
        return [record for record in self if record.target is not OWN and record.target in topics]

    def due_lanes(self, now_s: float, interval_s: float, *, all_lanes: bool = False) -> list[Lane]:
        """The lanes whose answers go now, highest first.

        The highest lane with answers goes at once, a lower one as soon as its oldest answer is older than the commit
        interval (endless interactive work must not stop batch). The lowest lane of all waits for the interval too,
        unless `all_lanes`.
        """
        lanes = [lane for lane in LANES if self.lanes[lane]]
        if all_lanes:
            return lanes
        oldest_s = now_s - interval_s
        overdue = [lane for lane in lanes if next(iter(self.lanes[lane])).ready_s <= oldest_s]
        at_once = lanes[:1] if lanes and lanes[0] is not LANES[-1] else []
        return [lane for lane in lanes if lane in at_once or lane in overdue]

    def of(self, lanes: Collection[Lane]) -> list[dict[WorkItem, None]]:
        return [self.lanes[lane] for lane in lanes]
