"""A schema registry that is asked on a thread of its own: the Kafka thread never waits for HTTP."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from schemas.avro import AvroSchema
from schemas.errors import BadRecord, RegistryUnavailable
from schemas.registry import RememberingSource

#: Questions under way at once; more than that are turned away, to ask again.
ASKED_MAX: Final = 100


def nothing() -> None:
    """A source that needs not be told."""


class AsyncRegistry:
    """A SchemaSource: what is not known is asked for, and unavailable until the answer is there."""

    def __init__(self, source: RememberingSource, no_more: Callable[[], None] = nothing) -> None:
        """`no_more` is called when nothing is to be asked any more."""
        self._source = source
        self._no_more = no_more
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="registry")
        self._asked: dict[int, Future[AvroSchema]] = {}

    def schema(self, schema_id: int) -> AvroSchema:
        asked = self._asked.get(schema_id)
        if asked is None:
            known = self._source.remembered(schema_id)
            if known is not None:
                return known
            self._ask(schema_id)
        elif asked.done():
            return self._answered(schema_id, asked)
        raise RegistryUnavailable(f"the schema registry is asked for schema id {schema_id}")

    @property
    def idle(self) -> bool:
        """Every question has its answer."""
        return all(asked.done() for asked in self._asked.values())

    def close(self) -> None:
        """The question under way ends with the client's own time limit; no other is asked any more."""
        self._no_more()
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _ask(self, schema_id: int) -> None:
        """Answers that nobody came for (their partitions have moved) make room for new questions."""
        if len(self._asked) >= ASKED_MAX:
            self._asked = {each: asked for each, asked in self._asked.items() if not asked.done()}
        if len(self._asked) < ASKED_MAX:
            self._asked[schema_id] = self._thread.submit(self._source.schema, schema_id)

    def _answered(self, schema_id: int, asked: Future[AvroSchema]) -> AvroSchema:
        """What it was; the source behind remembers it for the next record."""
        del self._asked[schema_id]
        try:
            return asked.result()
        except BadRecord as refused:
            raise BadRecord.unreadable(str(refused)) from refused
