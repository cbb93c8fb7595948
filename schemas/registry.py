"""Schemas by id from a Confluent-compatible schema registry, remembered.

An id never changes its meaning, so schemas are kept; an id that is unknown may be registered later, so that is kept
for a while only. While the registry does not answer, it is asked at most once per `retry_after_s`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from schemas.avro import AvroSchema
from schemas.errors import BadRecord, RegistryUnavailable, SchemaInvalid, SchemaUnknown
from schemas.registry_client import Fetched


class SchemaSource(Protocol):
    """What the decoder needs of a registry."""

    def schema(self, schema_id: int) -> AvroSchema:
        """BadRecord (`unreadable`): there is no such Avro schema. RegistryUnavailable: nobody can say now."""


class RememberingSource(SchemaSource, Protocol):
    """A source with a memory that may be asked from any thread."""

    def remembered(self, schema_id: int) -> AvroSchema | None:
        """What is known without asking; BadRecord where it is known to be no schema, None where nothing is known."""


@dataclass(frozen=True, slots=True)
class RegistryRules:
    """Bounds of the memory and of the asking."""

    schemas_max: int = 1_000
    #: How long an unknown id stays unknown without asking again.
    unknown_s: float = 60
    #: How long a registry that did not answer is left alone.
    retry_after_s: float = 1


DEFAULT_RULES: Final = RegistryRules()


class SchemaFetcher(Protocol):
    """What the memory needs of a client."""

    def fetch(self, schema_id: int) -> Fetched:
        """SchemaUnknown, or RegistryUnavailable."""


class Registry:
    """A SchemaSource over a client. `clock` gives monotonic seconds."""

    def __init__(
        self, client: SchemaFetcher, clock: Callable[[], float], rules: RegistryRules = DEFAULT_RULES
    ) -> None:
        self._client = client
        self._clock = clock
        self._rules = rules
        self._known: dict[int, AvroSchema] = {}
        #: Unknown or unusable id -> (what is wrong with it, when to ask again).
        self._refused: dict[int, tuple[str, float]] = {}
        self._silent_until = float("-inf")
        self._silence = ""

    def schema(self, schema_id: int) -> AvroSchema:
        known = self.remembered(schema_id)
        return self._ask(schema_id) if known is None else known

    def remembered(self, schema_id: int) -> AvroSchema | None:
        known = self._known.get(schema_id)
        if known is not None:
            return known
        refused = self._refused.get(schema_id)
        if refused is not None and self._clock() < refused[1]:
            raise BadRecord.unreadable(refused[0])
        return None

    def _ask(self, schema_id: int) -> AvroSchema:
        if self._clock() < self._silent_until:
            raise RegistryUnavailable(self._silence)
        try:
            fetched = self._client.fetch(schema_id)
            schema = AvroSchema(fetched.text, fetched.references)
        except RegistryUnavailable as error:
            self._silence = str(error)
            self._silent_until = self._clock() + self._rules.retry_after_s
            raise
        except (SchemaUnknown, SchemaInvalid) as error:
            raise self._refuse(schema_id, str(error)) from error
        _make_room(self._known, self._rules.schemas_max)
        self._known[schema_id] = schema
        return schema

    def _refuse(self, schema_id: int, why: str) -> BadRecord:
        message = f"schema id {schema_id}: {why}"
        _make_room(self._refused, self._rules.schemas_max)
        self._refused[schema_id] = (message, self._clock() + self._rules.unknown_s)
        return BadRecord.unreadable(message)


def _make_room(entries: dict[int, Any], entries_max: int) -> None:
    """Forget the oldest (dictionaries keep order)."""
    while len(entries) >= entries_max:
        del entries[next(iter(entries))]
