"""One delivered and uncommitted record: what selection and publication need to know of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemas.lane import Lane
from stream.ledger.ledger import PartitionLedger
from stream.ledger.order import SessionKey
from stream.log.base import Output, Record

if TYPE_CHECKING:
    from schemas.work import WorkRecord
    from workers.call import Finished

#: `target` of an answer that goes to the service's own topics alone.
OWN = ""


class OpenRecord:
    """Slotted and mutable: one is made per record, on the hot path. States: exactly-once.md, section 3."""

    __slots__ = (
        "finished",
        "id",
        "lane",
        "ledger",
        "offset",
        "outputs",
        "record",
        "ready_s",
        "running",
        "session",
        "size_bytes",
        "target",
        "work",
    )

    def __init__(self, record: Record, offset: int, lane: Lane, ledger: PartitionLedger[OpenRecord]) -> None:
        self.record = record
        self.offset = offset
        self.lane = lane
        #: Whose ledger holds it; None once that partition is gone (DROPPED, or waiting to be adopted).
        self.ledger: PartitionLedger[OpenRecord] | None = ledger
        #: The call's id; empty until it was handed over.
        self.id = ""
        #: None where the record's own headers could not be read.
        self.work: WorkRecord | None = None
        self.session: SessionKey | None = None
        self.running = False
        self.finished: Finished | None = None
        self.outputs: tuple[Output, ...] = ()
        self.size_bytes = 0
        #: The foreign reply topic that its answer goes to, else OWN.
        self.target = OWN
        #: When it became DONE, by the monotonic clock.
        self.ready_s = 0.0
