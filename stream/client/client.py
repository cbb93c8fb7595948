"""The client: everything that a program needs of an installation, by calls that wait no longer than they are told to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, Literal

from schemas.source import Source
from stream.client.addressing import Addressing
from stream.client.answer import Answer
from stream.client.answers import Answers
from stream.client.consuming import Consuming, Wish
from stream.client.deadline import Deadline
from stream.client.following import Following
from stream.client.group_position import GroupPosition, partitions_of, standings
from stream.client.installation import DEFAULT_STATE_DIR, Installation, open_installation
from stream.client.lanes import Key, LaneWork, lane_works
from stream.client.producing import DELIVERY_S_MAX, Producing
from stream.client.record_line import record_line, value_line
from stream.client.submission import (
    LINES_MAX,
    TOGETHER_MAX,
    RequestLine,
    encoded,
    submit_each,
    submit_together,
)
from stream.client.topic_names import input_topic_name, refuse_own, require_topic, value_bytes_max
from stream.config.settings import KafkaSettings, Settings
from stream.log.base import Log, Partition, Record
from stream.log.memory.log import MemoryLog
from stream.topics import ensure_topics

ASK_S: Final = 30.0
#: As long as a usual batch of requests may take.
ANSWERS_S: Final = 600.0
NO_ADDRESSING: Final = Addressing()
Begin = Literal["earliest", "latest"]


class Client:
    """One installation, seen by a program. Each call makes and closes its own connections, so threads may share a client."""

    def __init__(self, log: Log, settings: Settings) -> None:
        self.log = log
        self.settings = settings

    @classmethod
    def connect(
        cls,
        bootstrap_servers: str | None = None,
        *,
        config: Path | str | None = None,
        state_dir: Path | str = DEFAULT_STATE_DIR,
        security: Mapping[str, str] | None = None,
    ) -> Client:
        """The installation of a configuration, else of a state directory, as commands find it; `bootstrap_servers` wins.

        `security`: further librdkafka settings. LogTimeout where no broker answers.
        """
        found = open_installation(None if config is None else Path(config), Path(state_dir))
        if bootstrap_servers is not None:
            kafka = KafkaSettings(bootstrap_servers, dict(security or {}))
            found = replace(found, settings=replace(found.settings, kafka=kafka))
        return cls.of(found, "client")

    @classmethod
    def of(cls, found: Installation, name: str, deadline: Deadline | None = None) -> Client:
        """For commands: of an installation that is found already, under the name of the command."""
        return cls(found.log(name, deadline), found.settings)

    @classmethod
    def in_memory(cls, settings: Settings | None = None) -> Client:
        """A fake for tests: the same client on a log in this process. `FakeService` answers in the service's place."""
        log, whole = MemoryLog(), settings or Settings()
        ensure_topics(log.admin(), whole)
        return cls(log, whole)

    def submit(
        self,
        lines: Iterable[RequestLine],
        *,
        topic: str | None = None,
        addressing: Addressing = NO_ADDRESSING,
    ) -> list[Source]:
        """Where each line is, in their order: sent idempotently, LINES_MAX at most. NotDelivered names those that failed."""
        name = self._input(topic)
        bytes_max = self._value_bytes_max(name)
        return submit_each(self.log, name, encoded(lines, LINES_MAX, addressing), bytes_max)

    def submit_together(
        self,
        lines: Iterable[RequestLine],
        transactional_id: str,
        *,
        topic: str | None = None,
        addressing: Addressing = NO_ADDRESSING,
    ) -> None:
        """In one transaction, TOGETHER_MAX at most: all are there, or none (NotSubmitted), or nobody knows (OutcomeUnknown).

        A transaction tells no positions: await the answers by custom_id.
        """
        name = self._input(topic)
        submit_together(self.log, name, encoded(lines, TOGETHER_MAX, addressing), transactional_id)

    def ask(
        self,
        lines: Iterable[RequestLine],
        *,
        timeout_s: float = ANSWERS_S,
        topic: str | None = None,
        addressing: Addressing = NO_ADDRESSING,
    ) -> list[Answer]:
        """Submit, and wait for every answer, in the order of the lines. AnswersMissing holds those that came in time."""
        with self.answers() as answers:
            sources = self.submit(lines, topic=topic, addressing=addressing)
            found = answers.by_source(sources, timeout_s)
        return [found[str(source)] for source in sources]

    def answers(self, *, begin: Begin = "latest", topics: Sequence[str] = ()) -> Answers:
        """What comes on the results and dead letters from now on, or from the first; `topics`: reply topics besides."""
        outputs = self.settings.outputs
        names = dict.fromkeys((outputs.results, outputs.dead_letters, *topics))
        places = [place for name in names for place in require_topic(self.log, name)]
        admin = self.log.admin()
        if begin == "latest":
            begins = dict(admin.stable_ends(places, ASK_S))
        else:
            begins = {place: marks.low for place, marks in admin.watermarks(places, ASK_S).items()}
        return Answers(self.log.reader(begins))

    def read(
        self,
        topic: str,
        *,
        count: int | None = None,
        follow: bool = False,
        custom_id: str | None = None,
        begin: Begin = "earliest",
        timeout_s: float | None = None,
    ) -> Iterator[Record]:
        """Committed records: up to the present end, or `count` of them, or whatever comes. WaitedTooLong after `timeout_s`."""
        consuming = self.consuming(topic, Deadline(timeout_s), begin=begin)
        for look in consuming.looks(Wish(count, follow, custom_id)):
            yield from look.records

    def read_lines(
        self, topic: str, *, values: bool = False, count: int | None = None, timeout_s: float | None = None
    ) -> Iterator[str]:
        """Records as lines of JSON, as `headrace consume` prints them; `values`: the values alone."""
        line_of = value_line if values else record_line
        return (line_of(record) for record in self.read(topic, count=count, timeout_s=timeout_s))

    def positions(self, group: str, topics: Sequence[str]) -> Mapping[Partition, GroupPosition]:
        """How far a group is on these topics, its offset map included."""
        return standings(self.log.admin(), group, self._partitions(topics))

    def follow(self, group: str, topics: Sequence[str]) -> Following:
        """How far a group is with what is there now: progress, rate and time left at each look."""
        return Following(self.log.admin(), group, self._partitions(topics))

    def lanes(self, interval_s: float = 1.0) -> Mapping[Key, LaneWork]:
        """Lag, rate and time left of each endpoint's lanes, from two looks `interval_s` apart."""
        admin = self.log.admin()
        return lane_works(admin, self.settings, admin.topics(ASK_S), interval_s)

    def consuming(self, topic: str, deadline: Deadline, *, begin: Begin = "earliest") -> Consuming:
        """For who wants to know of each look at the log."""
        places = require_topic(self.log, topic, deadline)
        return Consuming(self.log, places, deadline, from_latest=begin == "latest")

    @contextmanager
    def producing(
        self, topic: str, addressing: Addressing, complain: Callable[[int, str], None]
    ) -> Iterator[tuple[Producing, int]]:
        """For lines without end: what sends them, and how many bytes one may have. UsageError for topics of the service."""
        name = self._input(topic)
        bytes_max = self._value_bytes_max(name)
        with closing(self.log.plain_producer(DELIVERY_S_MAX)) as producer:
            yield Producing(producer, name, addressing, complain=complain), bytes_max

    def _input(self, topic: str | None) -> str:
        name = input_topic_name(self.settings, None) if topic is None else topic
        refuse_own(self.settings, name)
        require_topic(self.log, name, inputs=self.settings.inputs)
        return name

    def _value_bytes_max(self, topic: str) -> int:
        return min(self.settings.limits.value_bytes_max, value_bytes_max(self.log, topic))

    def _partitions(self, topics: Sequence[str]) -> list[Partition]:
        return partitions_of(self.log.admin().topics(ASK_S), topics)
