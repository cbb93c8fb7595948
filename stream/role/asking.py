"""A schema registry that is asked on a thread of its own: the Kafka thread never waits for HTTP."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from schemas.avro import AvroSchema
from schemas.errors import BadRecord, RegistryUnavailable
from schemas.registry import SchemaSource

#: Schemas remembered here; the registry behind has its own, larger memory.
KNOWN_MAX: Final = 1_000
#: Questions under way at once; more than that are turned away, to ask again.
ASKED_MAX: Final = 100


class AskingRegistry:
    """A SchemaSource: what is not known is asked for, and unavailable until the answer is there."""

    def __init__(self, source: SchemaSource) -> None:
        self._source = source
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="registry")
        self._known: dict[int, AvroSchema] = {}
        self._asked: dict[int, Future[AvroSchema]] = {}

    def schema(self, schema_id: int) -> AvroSchema:
        known = self._known.get(schema_id)
        if known is not None:
            return known
        asked = self._asked.get(schema_id)
        if asked is not None and asked.done():
            return self._answered(schema_id, asked)
        if asked is None and len(self._asked) < ASKED_MAX:
            self._asked[schema_id] = self._thread.submit(self._source.schema, schema_id)
        raise RegistryUnavailable(f"the schema registry is asked for schema id {schema_id}")

    @property
    def idle(self) -> bool:
        """Every question has its answer."""
        return all(asked.done() for asked in self._asked.values())

    def close(self) -> None:
        """The question under way ends with the client's own time limit; the others are not asked any more."""
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _answered(self, schema_id: int, asked: Future[AvroSchema]) -> AvroSchema:
        """One answer is for one question: a refusal may have an end, so the next record asks again."""
        del self._asked[schema_id]
        try:
            schema = asked.result()
        except BadRecord as refused:
            raise BadRecord.unreadable(str(refused)) from refused
        while len(self._known) >= KNOWN_MAX:
            del self._known[next(iter(self._known))]
        self._known[schema_id] = schema
        return schema
