"""The boundary to the log: what Headrace needs of Kafka, no more.

`kafka` implements it with confluent-kafka, `memory` in this process for tests; one contract suite runs on both. All
of it is synchronous and belongs to one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

from schemas.headers import Headers
from stream.background_call import Meanwhile, nothing
from stream.log.plain import DELIVERY_S_MAX, PlainProducer
from stream.log.stuck import Stuck


class Partition(NamedTuple):
    """One partition of one topic."""

    topic: str
    partition: int


class Record(Protocol):
    """A consumed record; confluent_kafka.Message is one as it stands (no copy on the hot path)."""

    def topic(self) -> str: ...
    def partition(self) -> int: ...
    def offset(self) -> int: ...
    def key(self) -> bytes | None: ...
    def value(self) -> bytes | None: ...
    def headers(self) -> Headers | None: ...
    def timestamp(self) -> tuple[int, int]: ...  # type and ms

    def leader_epoch(self) -> int | None: ...


class EndOfPartition(NamedTuple):
    """The reader has everything below `offset` that it may see; offsets never delivered are gaps."""

    topic: str
    partition: int
    offset: int


class Polled(NamedTuple):
    """What one poll gave. An end event may be older than records of the same poll; both orders are safe."""

    records: Sequence[Record]
    ends: Sequence[EndOfPartition]
    #: Partitions whose next offset the log does not have (any more). Nothing of them comes before a `seek`.
    overtaken: Sequence[Partition] = ()
    #: Partitions that cannot be read on; nothing of one comes after it in the same poll.
    stuck: Sequence[Stuck] = ()


class Committed(NamedTuple):
    """A group's committed offset and its metadata, from one answer (reading them apart would tear them)."""

    offset: int
    metadata: str


class Watermarks(NamedTuple):
    """First offset kept and the high watermark."""

    low: int
    high: int


class OffsetCommit(NamedTuple):
    """Goes into a transaction: the new base of a partition and its offset map as metadata."""

    topic: str
    partition: int
    offset: int
    metadata: str


class Output(NamedTuple):
    """A record to publish. `partition` -1: by key (murmur2, as Java clients do). `timestamp_ms` 0: now."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers
    partition: int = -1
    timestamp_ms: int = 0


class GroupStamp(NamedTuple):
    """Proof of membership that fences a zombie's offsets. `native` is the client's own object."""

    generation: int
    member_id: str
    native: object

    @property
    def valid(self) -> bool:
        """With generation -1 or an empty member id the classic broker may check nothing."""
        return self.generation >= 0 and bool(self.member_id)


@dataclass(frozen=True, slots=True)
class Success:
    """The commit is known to have succeeded; readers see it a moment later, when its markers are written."""


@dataclass(frozen=True, slots=True)
class Aborted:
    """Known not to be committed; the outputs may go again. `cause` is a short label for the metric."""

    cause: str
    #: Place in `outputs` -> reason, for those whose delivery failed; filled only with `attribute=True`.
    failed: Mapping[int, str]
    #: Some delivery failed (too large, target bad): publish again with `attribute=True`, or halve.
    delivery: bool = False


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody can say yet: reconcile before anything else is done with these outputs."""

    cause: str


@dataclass(frozen=True, slots=True)
class Fenced:
    """Another process owns our transactional or instance id: exit 4, unless a call of ours timed out before."""

    cause: str


#: Of one transaction: exactly one of these, never an exception for a Kafka condition.
Outcome = Success | Aborted | Unknown | Fenced


def nowhere(_point: str) -> None:
    """No faults are injected."""


class AssignmentListener(Protocol):
    """Called inside `poll` on its thread. What it raises comes out of `poll` and must end the process."""

    def assigned(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        """The offset to read on from, for every partition of `partitions`; nothing is fetched without one."""

    def revoked(self, partitions: Sequence[Partition]) -> None:
        """Still owned until this returns: one final, bounded commit is allowed."""

    def lost(self, partitions: Sequence[Partition]) -> None:
        """Already someone else's: never commit."""


class LogConsumer(Protocol):
    """A member of a consumer group that reads committed records only and never commits by itself."""

    def subscribe(self, topics: Sequence[str], listener: AssignmentListener) -> None:
        """A name that starts with ^ is a regex."""

    def poll(self, records_max: int, timeout_s: float) -> Polled:
        """Serve callbacks, then return at once with what is there, at most `records_max`; wait only when empty."""

    def pause(self, partitions: Sequence[Partition]) -> None:
        """A wish that outlives rebalances: a partition that comes back is paused again until `resume` names it.

        Partitions that are not owned may be named, in callbacks too. Pausing drops what was prefetched.
        """

    def resume(self, partitions: Sequence[Partition]) -> None: ...
    def seek(self, partition: Partition, offset: int) -> None: ...
    def group(self) -> GroupStamp: ...
    def committed(
        self, partitions: Sequence[Partition], timeout_s: float
    ) -> Mapping[Partition, Committed | None]:
        """Stable offsets: waits for an open transaction on them. LogTimeout when `timeout_s` passes."""

    def watermarks(self, partition: Partition, timeout_s: float) -> Watermarks: ...
    def close(self) -> None:
        """Revoke (the listener is called), leave, free. Raises what a callback raised, as `poll` does."""


class LogProducer(Protocol):
    """A transactional producer under one fixed transactional id."""

    @property
    def lives(self) -> int:
        """How often it took its id, the first time included: others may have had it in between."""

    def start(self, timeout_s: float) -> None:
        """Initialise: ends the predecessor's transaction and fences it. Again after `Unknown`: a new client, same id."""

    def publish(
        self,
        outputs: Sequence[Output],
        offsets: Sequence[OffsetCommit],
        group: GroupStamp | None,
        *,
        attribute: bool = False,
        reach: Callable[[str], None] = nowhere,
        while_waiting: Meanwhile = nothing,
        life: int | None = None,
    ) -> Outcome:
        """One whole transaction: all outputs with their offsets, or nothing.

        `reach` is called at the named points `begun`, `produced`, `offsets_sent`, `committed`: fault injection in tests.
        `while_waiting` is called while we wait, on our thread, again and again until it gives None. It must not begin another
        transaction; what it raises comes out when this one has ended.
        `life`: begin in this one of `lives` alone; Unknown where the id had to be taken anew, as others may have had it.
        A client that saw a timeout is replaced before its next begin (TAINTED)."""

    def is_fenced(self, group: GroupStamp) -> bool:
        """Asks the coordinator, committing nothing: does another process own our transactional id?"""

    def close(self) -> None: ...


class TopicDescription(NamedTuple):
    """What a topic is: partitions and settings (cleanup.policy, …). `hidden`: those may not be read (DescribeConfigs)."""

    name: str
    partitions: int
    settings: Mapping[str, str]
    hidden: bool = False


class LogAdmin(Protocol):
    """Topics and positions, seen from outside any group. `create` leaves topics as they are that exist."""

    def topics(self, timeout_s: float) -> Mapping[str, int]:
        """Topic -> number of partitions."""

    def describe(self, names: Sequence[str], timeout_s: float) -> Mapping[str, TopicDescription | None]:
        """None for a topic that does not exist."""

    def create(self, topics: Sequence[TopicDescription], timeout_s: float) -> None: ...
    def delete(self, names: Sequence[str], timeout_s: float) -> None: ...
    def delete_records(self, below: Mapping[Partition, int], timeout_s: float) -> None: ...

    def may_on_topics(self, names: Sequence[str], timeout_s: float) -> Mapping[str, frozenset[str] | None]:
        """What we may do with each ("Read", "Write", … as ACLs have it); None: nobody can say, or the topic is not seen."""

    def group_offsets(
        self, group: str, partitions: Sequence[Partition], timeout_s: float
    ) -> Mapping[Partition, Committed | None]:
        """Another group's plain (not stable) offsets, as fences need them."""

    def watermarks(self, partitions: Sequence[Partition], timeout_s: float) -> Mapping[Partition, Watermarks]:
        """`high` is the high watermark, open transactions included."""

    def stable_ends(self, partitions: Sequence[Partition], timeout_s: float) -> Mapping[Partition, int]:
        """The last stable offset of each partition: where read_committed readers stop."""


class LogReader(Protocol):
    """Reads committed records without a group: no offsets are kept, nobody is disturbed."""

    def poll(self, records_max: int, timeout_s: float) -> Polled:
        """What comes next, new records included; waits only when empty."""

    def to_end(self, timeout_s: float) -> Iterator[Record]:
        """Everything below the stable ends of now; LogTimeout after `timeout_s` without progress, LogError where it is stuck."""

    def close(self) -> None: ...


#: `range`: the same partition numbers of every topic. `roundrobin`: equal shares over all topics. Both are eager. Not
#: `cooperative-sticky`: its rebalance has two halves, and where a static member dies between them and is back within its
#: session, the broker gives it the half it had: what was to move is read by nobody (seen on Kafka 4.0.2, librdkafka 2.16).
Assignor = Literal["range", "roundrobin"]


class Log(Protocol):
    """Makes the clients. Each belongs to the thread that uses it and is closed by it."""

    def consumer(
        self,
        group: str,
        instance_id: str | None = None,
        *,
        assignor: Assignor = "range",
        regex_refresh_ms: int = 3_000,
    ) -> LogConsumer: ...

    def producer(self, transactional_id: str, *, batch_bytes_max: int = 1_000_000) -> LogProducer:
        """`batch_bytes_max`: not above the smallest target's `max.message.bytes`, else neighbours fail together."""

    def admin(self) -> LogAdmin: ...

    def plain_producer(self, delivery_s_max: float = DELIVERY_S_MAX) -> PlainProducer:
        """What is not delivered within `delivery_s_max` is given up and reported so."""

    def reader(self, begin: Sequence[str] | Mapping[Partition, int], *, careful: bool = False) -> LogReader:
        """All partitions of these topics from their first record, or these partitions from these offsets.

        `careful`: takes what unpacks to far more than members of a group do.
        """
