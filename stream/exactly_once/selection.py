"""Which answers the next transaction carries: one kind of target, a prefix per session, within the caps. Pure."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

from stream.exactly_once.session_order import SessionKey
from stream.exactly_once.work_item import OWN, WorkItem


@dataclass(frozen=True, slots=True)
class Caps:
    """Bounds of one transaction. A single answer may pass them: it has to go somehow."""

    records_max: int
    bytes_max: int
    #: Output partitions; None: they cannot be too many, so nobody counts.
    partitions_max: int | None = None


#: What kind of transaction a target goes in: OWN, PROVEN (shared by proven foreign topics), or the topic alone.
KindOf = Callable[[str], str]
PROVEN = "\0proven"


def choose_kind(
    lanes: Sequence[Iterable[WorkItem]],
    kind_of: KindOf,
    overdue_before_s: float,
    doubted: Callable[[str], bool] = lambda _kind: False,
) -> str | None:
    """The kind of the oldest answer if it is overdue, else of the highest lane's first: no kind starves another.

    A `doubted` kind goes only where nothing else can.
    """
    heads = [_head(answers, kind_of, doubted) for answers in lanes]
    if not any(heads):
        heads = [next(iter(answers), None) for answers in lanes]
    present = [head for head in heads if head is not None]
    if not present:
        return None
    oldest = min(present, key=lambda record: record.ready_s)
    return kind_of((oldest if oldest.ready_s <= overdue_before_s else present[0]).target)


def _head(answers: Iterable[WorkItem], kind_of: KindOf, doubted: Callable[[str], bool]) -> WorkItem | None:
    """The first answer that is neither of a doubted kind nor behind one in its session."""
    behind: set[SessionKey] = set()
    for record in answers:
        if record.session in behind:
            continue
        if not doubted(kind_of(record.target)):
            return record
        if record.session is not None:
            behind.add(record.session)
    return None


def select(
    lanes: Sequence[Iterable[WorkItem]],
    kind: str,
    kind_of: KindOf,
    caps: Caps,
    partitions_of: Mapping[str, int],
    without: Container[WorkItem] | None = None,
) -> list[WorkItem]:
    """The answers of `kind`, highest lane first, each lane in the order in which its answers became ready.

    A session's later answer never goes before an earlier one of its lane: once one of them is passed over, so are
    the rest. `partitions_of` says how many partitions a topic has (unknown: 1 per output).
    """
    chosen: list[WorkItem] = []
    room = _Room(caps, partitions_of)
    for answers in lanes:
        passed: set[SessionKey] = set()  # order holds within a lane: another's answers hold nothing up
        for record in answers:
            session = record.session
            if session in passed:
                continue
            target = record.target
            if (OWN if target is OWN else kind_of(target)) != kind or (
                without is not None and record in without
            ):
                if session is not None:
                    passed.add(session)
                continue
            if not room.takes(record):
                return chosen
            chosen.append(record)
    return chosen


class _Room:
    """What is left of the caps while a transaction is put together."""

    def __init__(self, caps: Caps, partitions_of: Mapping[str, int]) -> None:
        self._records = caps.records_max
        self._bytes = caps.bytes_max
        self._partitions = caps.partitions_max
        self._partitions_of = partitions_of
        self._outputs: dict[str, int] = {}
        self._empty = True

    def takes(self, record: WorkItem) -> bool:
        """Counts the record in if it fits; the first one always does."""
        self._records -= 1
        self._bytes -= record.size_bytes
        if self._partitions is not None:
            self._partitions -= self._new_partitions(record)
        if self._empty:
            self._empty = False
            return True
        return self._records >= 0 and self._bytes >= 0 and (self._partitions is None or self._partitions >= 0)

    def _new_partitions(self, record: WorkItem) -> int:
        new = 0
        for output in record.outputs:
            topic = output.topic
            sent = self._outputs.get(topic, 0)
            if sent < self._partitions_of.get(topic, sent + 1):
                self._outputs[topic] = sent + 1
                new += 1
        return new
