"""Which input of the configuration a topic belongs to, and what that says about its records."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from schemas.avro import AvroSchema
from schemas.decode import JSON, REGISTRY
from schemas.errors import SchemaInvalid
from schemas.lane import Lane
from stream.config.loops import internal_patterns, reply_patterns
from stream.config.patterns import TopicPattern
from stream.config.settings import InputBinding, Settings
from stream.errors import ConfigError, TopicMismatch


class Inlet(NamedTuple):
    """What an input decides for its records."""

    #: As the header `headrace-format` says it.
    format: str
    #: Bound: nothing in a record can say otherwise.
    tenant: str | None = None
    lane: Lane | None = None
    #: A record with a field that nobody knows is invalid; else the result names it.
    refuse_unknown: bool = False


class Bindings:
    """An exact name wins; two patterns on one topic, and topics that we write ourselves, are refused."""

    def __init__(self, settings: Settings) -> None:
        #: Schemas of the plain Avro inputs.
        self.avro: list[AvroSchema] = []
        inputs = [(TopicPattern(binding.pattern), self._inlet(binding)) for binding in settings.inputs]
        self._exact = {pattern.text: inlet for pattern, inlet in inputs if pattern.exact}
        self._patterns = [(pattern, inlet) for pattern, inlet in inputs if not pattern.exact]
        self._written = (*internal_patterns(settings), *reply_patterns(settings))

    @property
    def subscription(self) -> list[str]:
        """Names and regexes as the consumer takes them."""
        return [*self._exact, *(pattern.subscription for pattern, _ in self._patterns)]

    def find(self, topic: str) -> Inlet:
        """The topic's input; TopicMismatch says why it must not be read."""
        for pattern in self._written:
            if pattern.matches(topic):
                raise TopicMismatch(
                    f'"{topic}" is one of our outputs ("{pattern.text}"): reading it would loop'
                )
        if topic in self._exact:
            return self._exact[topic]
        found = [(pattern, inlet) for pattern, inlet in self._patterns if pattern.matches(topic)]
        if len(found) != 1:
            names = " and ".join(f'"{pattern.text}"' for pattern, _ in found) or "no input"
            raise TopicMismatch(f'"{topic}" is matched by {names}: exactly one input must say how to read it')
        return found[0][1]

    def _inlet(self, binding: InputBinding) -> Inlet:
        kind = JSON if binding.format == "json" else REGISTRY
        if binding.format == "avro":
            schema = _schema(binding)
            self.avro.append(schema)
            kind = schema.format
        return Inlet(kind, binding.tenant, binding.lane, binding.unknown_fields == "refuse")


def _schema(binding: InputBinding) -> AvroSchema:
    try:
        return AvroSchema(Path(binding.schema or "").read_text("utf-8"))
    except (OSError, UnicodeDecodeError, SchemaInvalid) as wrong:
        raise ConfigError(
            f'[inputs."{binding.pattern}"] schema = "{binding.schema}" cannot be used: {wrong}'
        ) from wrong
