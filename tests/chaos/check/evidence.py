"""What a finished run left behind: all that the invariants look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from schemas.failure import ErrorClass, Stage
from schemas.headers import Header
from schemas.source import Source
from tests.chaos.inputs.plan import OrderKey

#: (topic, partition)
Place = tuple[str, int]


class Violation(NamedTuple):
    """An invariant (I1 to I9) that does not hold, and where."""

    invariant: str
    what: str


@dataclass(frozen=True, slots=True)
class Input:
    """An input record that a read_committed reader sees."""

    source: Source
    dies_as: ErrorClass | None
    order: OrderKey | None
    value: bytes | None
    key: bytes | None = None
    headers: tuple[Header, ...] = ()
    dies_at: Stage | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """One visible output: a result (`error_class` None) or a dead letter."""

    source: Source
    place: Place
    offset: int
    error_class: str | None
    #: Of a result: its answer body as JSON text with sorted keys. Of a dead letter: None.
    answer: str | None = None
    #: Of a dead letter: the original value.
    original: bytes | None = None
    key: bytes | None = None
    #: Of a result: all but the four that are ours. Of a dead letter: those that a replay puts back.
    headers: tuple[Header, ...] = ()
    #: Of a dead letter.
    stage: str | None = None
    #: Whether a worker published it: what no worker took has no usage record.
    worked: bool = True
    #: Start and end of the engine run that was committed, ms since the epoch; None for dead letters.
    ran_ms: tuple[int, int] | None = None


class Progress(NamedTuple):
    """A committed offset with the offsets at or above it that its map calls done."""

    base: int
    done: frozenset[int]

    def has(self, offset: int) -> bool:
        return offset < self.base or offset in self.done


class Ends(NamedTuple):
    """Last stable offset and high watermark of a partition."""

    stable: int
    high: int


@dataclass(frozen=True, slots=True)
class Bites:
    """What the faults did, counted from outside the roles."""

    aborted_transactions: int = 0
    #: Output records that only a read_uncommitted reader sees.
    hidden_records: int = 0
    #: Starts of a role that found work done above a committed offset.
    skipping_restarts: int = 0
    #: Rebalances while engine runs were started and not yet answered.
    busy_rebalances: int = 0
    #: Every other fault by name: how often it bit.
    faults: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything, after all roles were stopped."""

    inputs: Mapping[Source, Input]
    outputs: Sequence[Outcome]
    #: The source of each visible usage record, partition by partition in order.
    usage: Sequence[Source]
    #: Read while the run went on: place -> (offset, crc of key and value) in the order of arrival.
    concurrent: Mapping[Place, Sequence[tuple[int, int]]]
    #: The same, read after the end.
    final: Mapping[Place, Sequence[tuple[int, int]]]
    #: (group, topic, partition) -> its sampled progress, oldest first; the last one was read after the end.
    progress: Mapping[tuple[str, str, int], Sequence[Progress]]
    ends: Mapping[Place, Ends]
    #: Sources of answered inputs -> the answer that the deterministic engine gives, as `Outcome.answer`.
    expected: Mapping[Source, str]
    bites: Bites
    #: Of the endpoint: "session", "serial" or "none".
    order: str = "session"
