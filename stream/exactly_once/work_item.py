"""One delivered and uncommitted record: what selection and publication need to know of it."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from schemas.lane import Lane
from stream.exactly_once.ledger import PartitionLedger
from stream.exactly_once.session_order import SessionKey, SessionOrder
from stream.log.base import Output, Partition, Record

if TYPE_CHECKING:
    from schemas.failure import Failure
    from schemas.work_record import WorkRecord
    from workers.call import Finished

#: `target` of an answer that goes to the service's own topics alone.
OWN = ""


class Form(IntEnum):
    """How an output is written; each next one is what remains when the one before cannot be delivered."""

    ANSWER = 0
    ERROR_RESULT = 1
    DEAD_LETTER = 2
    #: A dead letter without what is large.
    BARE_DEAD_LETTER = 3


class WorkItem:
    """Slotted and mutable: one is made per record, on the hot path. docs/exactly-once.md names its states."""

    __slots__ = (
        "failure",
        "finished",
        "form",
        "id",
        "lane",
        "leader_epoch",
        "ledger",
        "message",
        "offset",
        "order",
        "outputs",
        "place",
        "prior_attempts",
        "queued_ms",
        "ready_s",
        "running",
        "session",
        "size_bytes",
        "target",
        "weight",
        "work",
    )

    def __init__(self, message: Record, offset: int, lane: Lane, ledger: PartitionLedger[WorkItem]) -> None:
        self.place: Partition = ledger.partition
        self.offset = offset
        self.leader_epoch = message.leader_epoch()
        #: ms since the epoch: when it was written to the work topic.
        self.queued_ms = message.timestamp()[1]
        #: The record as it came; None once it is read, for its headers alone weigh more than all else here.
        self.message: Record | None = message
        self.lane = lane
        #: Whose ledger holds it; None once that partition is gone (DROPPED, or waiting to be adopted).
        self.ledger: PartitionLedger[WorkItem] | None = ledger
        #: The call's id; empty until it was handed over.
        self.id = ""
        #: What `message` says; None where its headers could not be read.
        self.work: WorkRecord | None = None
        #: With a session where order counts: whose turn it is says `order`.
        self.session: SessionKey | None = None
        self.order: SessionOrder[WorkItem] | None = None
        #: Bytes that it holds while it is open, about: key, value and the producer's headers.
        self.weight = 0
        self.running = False
        self.finished: Finished | None = None
        #: Engine attempts that earlier processes are known to have begun.
        self.prior_attempts = 0
        #: Why it has no answer.
        self.failure: Failure | None = None
        self.form = Form.ANSWER
        self.outputs: tuple[Output, ...] = ()
        self.size_bytes = 0
        #: The foreign reply topic that its answer goes to, else OWN.
        self.target = OWN
        #: When it became DONE, by the monotonic clock.
        self.ready_s = 0.0

    @property
    def is_next(self) -> bool:
        """No elder of its session is still to finish."""
        return self.order is None or self.session is None or self.order.is_first(self.session, self)
