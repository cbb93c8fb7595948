"""What became of the records of one transaction: the client reports only those that failed."""

from __future__ import annotations

from confluent_kafka import KafkaError, Message

from stream.log import reasons
from stream.log.kafka.failures import delivery_reason


class Deliveries:
    """The failures so far."""

    def __init__(self) -> None:
        #: Place of the output -> reason; without attribution only the reasons count (place -1, -2, …).
        self.failed: dict[int, str] = {}
        #: Records that will not arrive, purged ones included.
        self.missing = 0

    def clear(self) -> None:
        """The next transaction begins."""
        self.failed = {}
        self.missing = 0

    def note(self, error: KafkaError | None, _message: Message) -> None:
        """The client's report of a record whose place nobody asked for."""
        if error is not None:
            self._keep(-1 - len(self.failed), delivery_reason(error))

    def note_of(self, place: int, error: KafkaError | None, _message: Message) -> None:
        """The client's report of the output at `place`."""
        if error is not None:
            self._keep(place, delivery_reason(error))

    def refused(self, place: int, reason: str) -> None:
        """The client did not even take the output at `place`."""
        self.missing += 1
        self.failed[place] = reason

    def _keep(self, place: int, reason: str) -> None:
        """Records purged with the transaction did not fail themselves."""
        self.missing += 1
        if not reason.startswith("purge"):
            self.failed[place] = reason

    @property
    def attributed(self) -> dict[int, str]:
        """Those of `failed` whose place is known."""
        return {place: reason for place, reason in self.failed.items() if place >= 0}

    @property
    def worst(self) -> str:
        """A reason that trying again cannot help, if there is one."""
        found = list(self.failed.values())
        return next((reason for reason in found if reason in reasons.PERMANENT), found[0])

    @property
    def permanent(self) -> bool:
        """Some output cannot be delivered, however often it is tried."""
        return not reasons.PERMANENT.isdisjoint(self.failed.values())
