"""One transaction, put together: its answers, and for each of their partitions the base and the map. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from stream.exactly_once.ledger import PartitionLedger, Stage
from stream.exactly_once.work_item import OWN, WorkItem
from stream.log.base import OffsetCommit, Output

Ledger = PartitionLedger[WorkItem]
#: Makes a ledger's part; `PartitionLedger.stage`, except where the chaos suite shows what it is good for.
StageOf = Callable[[Ledger, Collection[int]], Stage]


@dataclass(frozen=True, slots=True)
class Transaction:
    """Split by source record: all outputs of its sources, and offsets that name no other's."""

    kind: str
    records: Sequence[WorkItem]
    stages: Sequence[tuple[Ledger, Stage]]

    @property
    def outputs(self) -> list[Output]:
        return [output for record in self.records for output in record.outputs]

    @property
    def offsets(self) -> list[OffsetCommit]:
        return [OffsetCommit(*book.partition, stage.base, stage.metadata) for book, stage in self.stages]

    @property
    def foreign(self) -> set[str]:
        """Its foreign reply topics."""
        return {record.target for record in self.records if record.target is not OWN}


def make_transaction(
    kind: str, records: Sequence[WorkItem], dirty: Iterable[Ledger], stage_of: StageOf
) -> Transaction:
    """The transaction of these answers, and of the progress of the `dirty` ledgers."""
    sources: dict[Ledger, list[int]] = {book: [] for book in dirty}
    for record in records:
        assert record.ledger is not None, "a ready answer has a ledger"
        offsets = sources.get(record.ledger)
        if offsets is None:
            offsets = sources[record.ledger] = []
        offsets.append(record.offset)
    return Transaction(kind, records, [(book, stage_of(book, offsets)) for book, offsets in sources.items()])
