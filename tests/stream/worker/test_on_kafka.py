"""The whole worker on a real Kafka, with the simulated engine."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AclOperation

from schemas.control import NO_CONTROL, read_control
from schemas.headers import Headers
from schemas.lane import LANES, Lane
from schemas.source import Source
from schemas.work import Routed, WorkHeaders
from stream.broker import EmbeddedBroker
from stream.config.settings import Outputs, Settings
from stream.ledger.offset_map import decode
from stream.log.base import Log, Output, Partition, Success, TopicDescription
from stream.log.kafka import kafka_log
from stream.place import Place
from stream.topics import ensure_topics
from stream.worker.heartbeat import read_heartbeat
from stream.worker.parts import Parts
from stream.worker.rules import Rules
from stream.worker.run import serve
from tests.stream.worker.acl import forbid
from tests.stream.worker.house import header, request_line
from workers.clock import SystemClock
from workers.endpoint import Endpoint
from workers.engines.choose import engine_for
from workers.journal import NoJournal
from workers.rules import Rules as RunnerRules
from workers.runner import Runner

pytestmark = pytest.mark.broker

QUICK = Rules(heartbeat_s=0.2, lag_every_s=0.5, trim_every_s=0.5, drain_s=10.0)


class Crash(BaseException):
    """Stands for SIGKILL: nothing is committed or left after it."""


class Installation:
    """Topics of its own on the shared broker, and workers in threads."""

    def __init__(self, log: Log, place: Place, prefix: str) -> None:
        self.log = log
        self.place = place
        self.endpoint = Endpoint("sim", engine="simulated", partitions=2, slots=8)
        outputs = Outputs(f"{prefix}results", f"{prefix}dead-letters", (f"{prefix}*",))
        self.settings = Settings(prefix=prefix, inputs=(), outputs=outputs, endpoints={"sim": self.endpoint})
        ensure_topics(log.admin(), self.settings)
        self._headers = WorkHeaders()
        self._dispatcher = log.producer(f"{prefix}dispatcher")
        self._dispatcher.start(30)
        self._sent = 0
        self.workers: list[tuple[threading.Event, threading.Thread]] = []
        self.errors: list[BaseException] = []

    def put(
        self,
        count: int,
        *,
        lane: Lane = Lane.BATCH,
        session: str | None = None,
        simulate: str | None = None,
        headers: Headers | None = None,
    ) -> list[Source]:
        control = read_control(headers) if headers else NO_CONTROL
        outputs, sources = [], []
        for _ in range(count):
            source = Source("input", 0, self._sent)
            self._sent += 1
            line = request_line(f"r-{source.offset}")
            if simulate is not None:
                line = line.replace(
                    b'"messages"', b'"metadata": {"simulate": "%s"}, "messages"' % simulate.encode()
                )
            routed = Routed("sim", "acme", lane, "json", session, None, 0, 1)
            made = self._headers.build(source, int(time.time() * 1000), routed, control)
            place = hash(session) % 2 if session else source.offset % 2
            outputs.append(Output(self.settings.work_topic("sim", lane), None, line, made, place))
            sources.append(source)
        assert self._dispatcher.publish(outputs, [], None) == Success()
        return sources

    def start(self, slot: int = 0, **parts: Any) -> threading.Event:
        """A worker process, as a thread; set the event to end it cleanly."""
        stop = threading.Event()
        runner = Runner(
            engine_for(self.endpoint, Path()),
            RunnerRules.of(self.endpoint),
            SystemClock(),
            random.Random(1),
            NoJournal(),
        )
        made = Parts(
            log=self.log,
            runner=runner,
            clock_s=time.monotonic,
            now_ms=SystemClock().now_ms,
            stopped=stop.is_set,
            rules=QUICK,
            **parts,
        )

        def life() -> None:
            try:
                serve(self.settings, self.endpoint, slot, self.place.process_name, made)
            except BaseException as error:
                self.errors.append(error)

        thread = threading.Thread(target=life)
        thread.start()
        self.workers.append((stop, thread))
        return stop

    def stop(self) -> None:
        for stop, _ in self.workers:
            stop.set()
        for _, thread in self.workers:
            thread.join(60)
            assert not thread.is_alive()
        self.workers.clear()

    def outputs(self, *topics: str) -> Counter[str]:
        named = [self.settings.outputs.results, self.settings.outputs.dead_letters, *topics]
        reader = self.log.reader(named)
        try:
            return Counter(header(record, "headrace-source") for record in reader.to_end(20))
        finally:
            reader.close()

    def await_outputs(self, sources: list[Source], *topics: str, timeout_s: float = 60) -> None:
        """Each source has exactly one output, in the end."""
        expected = Counter(str(source) for source in sources)
        deadline = time.monotonic() + timeout_s
        while (found := self.outputs(*topics)) != expected and time.monotonic() < deadline:
            assert not found - expected, f"too many: {found - expected}"
            time.sleep(0.2)
        assert found == expected

    def check_ends(self) -> None:
        """After a clean stop: base at the end of each work topic, nothing open, LSO == HW everywhere."""
        admin = self.log.admin()
        group = self.settings.worker_group("sim")
        for lane in LANES:
            places = [Partition(self.settings.work_topic("sim", lane), p) for p in (0, 1)]
            marks, stable = admin.watermarks(places, 10), admin.stable_ends(places, 10)
            for place, found in admin.group_offsets(group, places, 10).items():
                assert stable[place] == marks[place].high
                if found is not None:
                    assert found.offset == marks[place].high
                    assert decode(found.metadata, found.offset, marks[place].high).deaths == 0
        own = [self.settings.outputs.results, self.settings.outputs.dead_letters]
        places = [Partition(name, p) for name in own for p in range(4)]
        assert {p: mark.high for p, mark in admin.watermarks(places, 10).items()} == admin.stable_ends(
            places, 10
        )


@pytest.fixture
def installation(
    kafka: EmbeddedBroker, unique: Callable[[str], str], tmp_path: Path
) -> Iterator[Installation]:
    place = Place(kafka.bootstrap_servers, tmp_path, "worker-sim-00")
    made = Installation(kafka_log(place), place, f"{unique('house')}.")
    yield made
    made.stop()


def test_every_record_of_every_lane_is_answered_once(installation: Installation) -> None:
    sources = [source for lane in LANES for source in installation.put(150, lane=lane)]
    installation.start()
    installation.await_outputs(sources)
    installation.stop()
    assert not installation.errors
    installation.check_ends()


@pytest.mark.parametrize("point", ["done", "begun", "produced", "offsets_sent", "committed"])
def test_a_crash_at_any_point_of_the_commit_loses_and_repeats_nothing(
    installation: Installation, point: str
) -> None:
    sources = (
        installation.put(40) + installation.put(10, session="s") + installation.put(5, lane=Lane.INTERACTIVE)
    )
    left = [7 if point == "done" else 2]

    def reach(name: str) -> None:
        if name == point:
            left[0] -= 1
            if left[0] == 0:
                raise Crash

    installation.start(reach=reach)
    installation.workers[0][1].join(60)
    assert [type(error) for error in installation.errors] == [Crash]
    installation.start()
    installation.await_outputs(sources)


def test_workers_that_join_and_leave_with_work_in_flight(installation: Installation) -> None:
    slow = installation.put(6, simulate="sleep:3")
    quick = installation.put(60) + installation.put(10, session="s")
    first = installation.start(0)
    time.sleep(2)
    installation.start(1)
    more = installation.put(60)
    time.sleep(4)
    first.set()
    more += installation.put(30, lane=Lane.INTERACTIVE)
    installation.await_outputs(slow + quick + more, timeout_s=90)
    assert not installation.errors


def test_bad_reply_topics_cost_their_own_answers_only(installation: Installation) -> None:
    prefix = installation.settings.prefix
    names = {
        name: f"{prefix}replies.{name}"
        for name in ("good", "missing", "compacted", "small", "forbidden", "closed")
    }
    installation.log.admin().create(
        [
            TopicDescription(names["good"], 2, {}),
            TopicDescription(names["compacted"], 1, {"cleanup.policy": "compact"}),
            TopicDescription(names["small"], 1, {"max.message.bytes": "3000"}),
            TopicDescription(names["forbidden"], 2, {}),
            TopicDescription(names["closed"], 2, {}),
        ],
        30,
    )
    servers = installation.place.bootstrap_servers
    forbid(AclOperation.WRITE, servers, names["forbidden"])
    forbid(AclOperation.DESCRIBE_CONFIGS, servers, names["closed"])
    by_name = {
        name: installation.put(4, headers=[("headrace-reply-to", topic.encode())])
        for name, topic in names.items()
    }
    large = installation.put(
        1, simulate="answer_bytes:4000000", headers=[("headrace-reply-to", names["small"].encode())]
    )
    plain = installation.put(20)
    every = [*plain, *large, *(source for sources in by_name.values() for source in sources)]
    installation.start()
    installation.await_outputs(every, names["good"], names["small"], names["closed"])
    reader = installation.log.reader([installation.settings.outputs.dead_letters])
    classes = Counter(header(letter, "headrace-error-class") for letter in reader.to_end(20))
    reader.close()
    assert classes == {"unwritable": 12, "too_large": 1}
    assert not installation.errors


def test_work_topics_are_trimmed_below_the_confirmed_base(installation: Installation) -> None:
    sources = installation.put(40)
    installation.start()
    installation.await_outputs(sources)
    places = [Partition(installation.settings.work_topic("sim", Lane.BATCH), p) for p in (0, 1)]
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        marks = installation.log.admin().watermarks(places, 10)
        if all(mark.low == mark.high for mark in marks.values()):
            break
        time.sleep(0.2)
    assert all(mark.low == mark.high > 0 for mark in marks.values())


def test_heartbeats_say_what_the_worker_does(installation: Installation) -> None:
    installation.put(1, simulate="sleep:2")
    installation.start()
    topic = installation.settings.own_topic("workers")
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        reader = installation.log.reader([topic])
        beats = [read_heartbeat(record.value() or b"") for record in reader.to_end(10)]
        reader.close()
        if any(beat.running["batch"] for beat in beats):
            break
        time.sleep(0.2)
    busy = next(beat for beat in beats if beat.running["batch"])
    assert busy.sources == ["input/0/0"]
    assert busy.partitions == [0, 1]
