"""Which topics the service has, and how each must be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from schemas.lane import LANES
from stream.config.patterns import TopicPattern
from stream.config.settings import OWN_BYTES_MAX, Settings
from workers.endpoint import Endpoint

Purpose = Literal["input", "work", "results", "dead-letters", "replays", "usage", "shards", "workers"]

INPUT_PARTITIONS: Final = 8
RESULT_PARTITIONS: Final = 8
DEAD_LETTER_PARTITIONS: Final = 4
USAGE_PARTITIONS: Final = 8
#: Heartbeats, and how soon their segments are old enough to go.
WORKERS_RETENTION_MS: Final = 60 * 60 * 1000
WORKERS_SEGMENT_MS: Final = 10 * 60 * 1000

KEPT: Final[Mapping[str, str]] = {"cleanup.policy": "delete", "retention.ms": "-1", "retention.bytes": "-1"}
CODEC: Final = frozenset({"compression.type"})
COMPACTED: Final[Mapping[str, str]] = {"cleanup.policy": "compact"}


@dataclass(frozen=True, slots=True)
class TopicPlan:
    """A topic as it is created, and what an existing one must not lack."""

    name: str
    purpose: Purpose
    partitions: int
    #: Settings at creation.
    settings: Mapping[str, str] = field(default_factory=dict)
    #: Names of `settings` that an existing topic must have too; the rest is the operator's.
    required: frozenset[str] = frozenset()
    #: Names of `settings` that an existing topic had better have: where not, it is said and nothing else.
    wished: frozenset[str] = frozenset()
    #: The endpoint whose lanes must all have the same number of partitions.
    endpoint: str | None = None


def planned_topics(settings: Settings) -> tuple[TopicPlan, ...]:
    """Every topic that the service creates, inputs first. Inputs named by a pattern are created by their owners."""
    own = (
        _results(settings),
        _dead_letters(settings),
        TopicPlan(
            settings.own_topic("usage"),
            "usage",
            USAGE_PARTITIONS,
            {**KEPT, **_codec(settings)},
            frozenset(),
            CODEC,
        ),
        _compacted(settings, "replays"),
        _compacted(settings, "shards"),
        _workers(settings),
    )
    work = (topic for endpoint in settings.endpoints.values() for topic in _work(settings, endpoint))
    return (*_inputs(settings), *work, *own)


def _inputs(settings: Settings) -> tuple[TopicPlan, ...]:
    names = (binding.pattern for binding in settings.inputs if TopicPattern(binding.pattern).exact)
    sizes = {"max.message.bytes": str(_record_bytes_max(settings))}
    return tuple(TopicPlan(name, "input", INPUT_PARTITIONS, sizes) for name in names)


def _work(settings: Settings, endpoint: Endpoint) -> tuple[TopicPlan, ...]:
    made = {**KEPT, "max.message.bytes": str(_record_bytes_max(settings))}
    return tuple(
        TopicPlan(
            settings.work_topic(endpoint.name, lane),
            "work",
            endpoint.partitions_count,
            made,
            frozenset(made),
            endpoint=endpoint.name,
        )
        for lane in LANES
    )


def _results(settings: Settings) -> TopicPlan:
    made = {
        "cleanup.policy": "delete",
        "max.message.bytes": str(_record_bytes_max(settings)),
        **_codec(settings),
    }
    required = frozenset({"cleanup.policy"})
    return TopicPlan(settings.outputs.results, "results", RESULT_PARTITIONS, made, required, CODEC)


def _dead_letters(settings: Settings) -> TopicPlan:
    # The original's headers travel, and those that say what was wrong with it.
    bytes_max = settings.limits.dead_letter_bytes_max + settings.limits.headers_bytes_max + OWN_BYTES_MAX
    made = {**KEPT, "max.message.bytes": str(bytes_max), **_codec(settings)}
    required = frozenset({"cleanup.policy"})
    name, partitions = settings.outputs.dead_letters, DEAD_LETTER_PARTITIONS
    return TopicPlan(name, "dead-letters", partitions, made, required, CODEC)


def _compacted(settings: Settings, name: Literal["replays", "shards"]) -> TopicPlan:
    return TopicPlan(settings.own_topic(name), name, 1, COMPACTED, frozenset(COMPACTED))


def _workers(settings: Settings) -> TopicPlan:
    made = {
        "cleanup.policy": "delete",
        "retention.ms": str(WORKERS_RETENTION_MS),
        "segment.ms": str(WORKERS_SEGMENT_MS),
    }
    return TopicPlan(settings.own_topic("workers"), "workers", 1, made, frozenset({"cleanup.policy"}))


def _codec(settings: Settings) -> Mapping[str, str]:
    """The broker writes them so whatever the producer's batch was: the dispatcher's carries work and dead letters."""
    codec = settings.outputs.compression
    return {"compression.type": "uncompressed" if codec == "none" else codec}


def _record_bytes_max(settings: Settings) -> int:
    return settings.limits.value_bytes_max + settings.limits.headers_bytes_max + OWN_BYTES_MAX
