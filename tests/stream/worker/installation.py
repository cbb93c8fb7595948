"""A worker's topics on a real broker, work put in by hand, and workers in threads."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from schemas.control import NO_CONTROL, read_control
from schemas.dead_letter import DeadLetter, parse_dead_letter
from schemas.headers import Headers
from schemas.lane import LANES, Lane
from schemas.source import Source
from schemas.work import Routed, WorkHeaders
from stream.config.settings import Outputs, Settings
from stream.exactly_once.offset_map import OffsetMap, decode
from stream.log.base import Log, Output, Partition, Record, Success
from stream.process_context import ProcessContext
from stream.topics import ensure_topics
from stream.worker.dependencies import WorkerDependencies
from stream.worker.limits import WorkerLimits
from stream.worker.role import serve
from tests.stream.settled import ASK_S, PATIENCE_S, await_markers
from tests.stream.worker.house import header, request_line
from workers.clock import SystemClock
from workers.endpoint import Endpoint
from workers.engines.choose import engine_for
from workers.journal import NoJournal
from workers.retry_policy import RetryPolicy
from workers.runner import Runner

QUICK = WorkerLimits(heartbeat_s=0.2, lag_every_s=0.5, trim_every_s=0.5, drain_s=10.0, revoke_s=30.0)


class Installation:
    """Topics of its own on the shared broker, and workers in threads."""

    def __init__(self, log: Log, place: ProcessContext, prefix: str) -> None:
        self.log = log
        self.place = place
        self.endpoint = Endpoint("sim", engine="simulated", partitions=2, slots=8)
        outputs = Outputs(f"{prefix}results", f"{prefix}dead-letters", (f"{prefix}*",))
        self.settings = Settings(prefix=prefix, inputs=(), outputs=outputs, endpoints={"sim": self.endpoint})
        self._admin = log.admin()
        ensure_topics(self._admin, self.settings)
        self._headers = WorkHeaders()
        self._dispatcher = log.producer(f"{prefix}dispatcher")
        self._dispatcher.start(30)
        #: Source -> its request line.
        self.lines: dict[str, bytes] = {}
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
        key: bytes | None = None,
    ) -> list[Source]:
        control = read_control(headers) if headers else NO_CONTROL
        outputs, sources = [], []
        for _ in range(count):
            source = Source("input", 0, len(self.lines))
            line = request_line(f"r-{source.offset}")
            if simulate is not None:
                line = line.replace(
                    b'"messages"', b'"metadata": {"simulate": "%s"}, "messages"' % simulate.encode()
                )
            self.lines[str(source)] = line
            routed = Routed("sim", "acme", lane, "json", session, None, 0, 1)
            made = self._headers.build(source, int(time.time() * 1000), routed, control)
            place = hash(session) % 2 if session else source.offset % 2
            outputs.append(Output(self.settings.work_topic("sim", lane), key, line, made, place))
            sources.append(source)
        assert self._dispatcher.publish(outputs, [], None) == Success()
        return sources

    def start(self, slot: int = 0, **parts: Any) -> threading.Event:
        """A worker process, as a thread; set the event to end it cleanly."""
        stop = threading.Event()
        runner = Runner(
            engine_for(self.endpoint, Path()),
            RetryPolicy.of(self.endpoint),
            SystemClock(),
            random.Random(1),
            NoJournal(),
        )
        made = WorkerDependencies(
            log=self.log,
            runner=runner,
            clock_s=time.monotonic,
            now_ms=SystemClock().now_ms,
            stopped=stop.is_set,
            **{"rules": QUICK, **parts},
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
            thread.join(120)
            assert not thread.is_alive()
        self.workers.clear()

    def outputs(self, *topics: str) -> Counter[str]:
        return self.sources_on(self.settings.outputs.results, self.settings.outputs.dead_letters, *topics)

    def end_cleanly(self) -> None:
        """Stop at rest: the base is at the end of each work topic before, and stays there."""
        deadline = time.monotonic() + PATIENCE_S
        while self._behind():
            assert time.monotonic() < deadline, self._behind()
            time.sleep(0.1)
        self.stop()
        assert not self.errors
        self.check_ends()

    def await_outputs(self, sources: list[Source], *topics: str, timeout_s: float = 120) -> None:
        """Each source has exactly one output, in the end."""
        expected = Counter(str(source) for source in sources)
        deadline = time.monotonic() + timeout_s
        while (found := self.outputs(*topics)) != expected and time.monotonic() < deadline:
            assert not found - expected, f"too many: {found - expected}"
            time.sleep(0.2)
        assert found == expected

    def sources_on(self, *topics: str) -> Counter[str]:
        """How often each source has an output on these topics."""
        return Counter(header(record, "headrace-source") for record in self.read(*topics))

    def letters(self) -> dict[str, DeadLetter]:
        """Source -> its dead letter."""
        found = self.read(self.settings.outputs.dead_letters)
        parsed = [parse_dead_letter(r.key(), r.value(), r.headers()) for r in found]
        return {str(letter.source): letter for letter in parsed}

    def read(self, *topics: str) -> list[Record]:
        """Nothing, where a topic is not there: a worker that starts may still have to make it."""
        if not set(topics) <= self._admin.topics(ASK_S).keys():
            return []
        reader = self.log.reader(topics)
        try:
            return list(reader.to_end(ASK_S))
        finally:
            reader.close()

    def check_ends(self) -> None:
        """After a clean stop: base at the end of each work topic, nothing open, LSO == HW everywhere."""
        own = [self.settings.outputs.results, self.settings.outputs.dead_letters]
        await_markers(self._admin, *own, *(self.settings.work_topic("sim", lane) for lane in LANES))
        # The last offsets become visible with the marker of their transaction, too.
        deadline = time.monotonic() + PATIENCE_S
        while (behind := self._behind()) or any(found.deaths for found in self._maps().values()):
            assert time.monotonic() < deadline, (behind, self._maps())
            time.sleep(0.1)

    def _behind(self) -> dict[Partition, tuple[OffsetMap, int]]:
        """Work partitions whose map does not say that all is done: the map and the end."""
        ends = {place: marks.high for place, marks in self._admin.watermarks(self._work, ASK_S).items()}
        return {
            place: (found, ends[place])
            for place, found in self._maps().items()
            if (found.base, found.hi) != (ends[place], ends[place] - 1)
        }

    def _maps(self) -> dict[Partition, OffsetMap]:
        """As committed, of the work partitions that have one."""
        found = self._admin.group_offsets(self.settings.worker_group("sim"), self._work, ASK_S)
        return {place: decode(at.metadata, at.offset, 2**40) for place, at in found.items() if at is not None}

    @property
    def _work(self) -> list[Partition]:
        return [Partition(self.settings.work_topic("sim", lane), p) for lane in LANES for p in (0, 1)]
