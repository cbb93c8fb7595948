"""Sends planned records: idempotently, or in transactions of which some are aborted, with markers at the end."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Final

from confluent_kafka import Producer

from tests.chaos.inputs.plan import Planned

SEND_TIMEOUT_S: Final = 60.0


class Sender:
    """An application that produces to the input topic. What is visible in the end, the read-back says."""

    def __init__(self, bootstrap_servers: str, topic: str, transactional_id: str) -> None:
        shared = {"bootstrap.servers": bootstrap_servers, "linger.ms": 5, "retry.backoff.ms": 5}
        self._topic = topic
        self._plain = Producer({**shared, "enable.idempotence": True})
        self._transactional = Producer(
            {**shared, "transactional.id": transactional_id, "transaction.timeout.ms": 60_000}
        )
        self._transactional.init_transactions(SEND_TIMEOUT_S)

    def send(self, records: Sequence[Planned]) -> None:
        """One by one, each acknowledged when this returns."""
        self._produce(self._plain, records)

    def send_transaction(self, records: Sequence[Planned], *, commit: bool) -> None:
        """All of them visible, or none ever (aborted only after the broker has them)."""
        self._transactional.begin_transaction()
        self._produce(self._transactional, records)
        if commit:
            self._transactional.commit_transaction(SEND_TIMEOUT_S)
        else:
            self._transactional.abort_transaction(SEND_TIMEOUT_S)

    def send_mixed(self, rng: Random, records: Sequence[Planned]) -> bool:
        """Plainly or in a committed transaction, sometimes preceded by aborted copies of the same records: whether so."""
        aborted_first = rng.random() < 0.25
        if aborted_first:
            self.send_transaction(records, commit=False)
        if rng.random() < 0.5:
            self.send_transaction(records, commit=True)
        else:
            self.send(records)
        return aborted_first

    def end_with_markers(self, ghosts: Sequence[Planned]) -> None:
        """An aborted transaction as the last thing: its records and markers are the tail that nobody sees."""
        self.send_transaction(ghosts, commit=False)

    def _produce(self, producer: Producer, records: Sequence[Planned]) -> None:
        for record in records:
            producer.produce(
                self._topic,
                key=record.key,
                value=record.value,
                headers=record.wire_headers(),
                partition=record.partition,
            )
        left = producer.flush(SEND_TIMEOUT_S)
        if left:
            raise TimeoutError(f"{left} input records were not acknowledged in {SEND_TIMEOUT_S} s")
