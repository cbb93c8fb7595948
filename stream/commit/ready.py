"""The finished answers that wait for a transaction, by lane, in the order in which they became ready."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from schemas.lane import LANES, Lane
from stream.commit.open_record import OpenRecord


class ReadyAnswers:
    """Bounded by the ledgers: every entry is an open record of one of them."""

    def __init__(self) -> None:
        self.lanes: dict[Lane, dict[OpenRecord, None]] = {lane: {} for lane in LANES}
        self.size_bytes = 0

    def __len__(self) -> int:
        return sum(map(len, self.lanes.values()))

    def __iter__(self) -> Iterator[OpenRecord]:
        for answers in self.lanes.values():
            yield from answers

    def add(self, record: OpenRecord) -> None:
        self.lanes[record.lane][record] = None
        self.size_bytes += record.size_bytes

    def remove(self, records: Iterable[OpenRecord]) -> None:
        """Those that are not there are passed over."""
        for record in records:
            answers = self.lanes[record.lane]
            if record in answers:
                del answers[record]
                self.size_bytes -= record.size_bytes

    def resized(self, before: int, after: int) -> None:
        """An answer's outputs were replaced."""
        self.size_bytes += after - before

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

    def of(self, lanes: Collection[Lane]) -> list[dict[OpenRecord, None]]:
        return [self.lanes[lane] for lane in lanes]
