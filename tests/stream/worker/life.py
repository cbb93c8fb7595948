"""One random life of workers on the log in memory, and what must be true at its end."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from dataclasses import replace
from typing import Final

from schemas.avro import AvroSchema
from schemas.errors import BadRecord, RegistryUnavailable
from schemas.failure import ErrorClass, Failure, Stage
from schemas.headers import Headers
from schemas.lane import LANES
from schemas.source import Source
from stream.config.settings import Limits
from stream.errors import StreamError
from stream.log.memory.log import Fault
from tests.stream.worker.fake_runner import answer_to
from tests.stream.worker.house import FAST, House, Worker, header
from workers.call import Call
from workers.endpoint import OrderName
from workers.engines.base import Answer

SESSIONS: Final = (None, None, "a", "b", "c")
#: Real seconds until everything must have been answered.
QUIET_S_MAX: Final = 60.0
#: Where answers may be asked for: two that take them, a small one, and three that cannot be used.
REPLIES: Final = (b"x", b"x:1", b"x:7", b"tiny", b"gone", b"compacted", b"denied")
#: Format and value: the usual line ten times, one that cannot be read, and one that needs the registry.
FORMATS: Final = (*[("json", None)] * 10, ("json", b"no JSON"), ("registry", b"\0\0\0\0\7payload"))
#: Answers of so many bytes do not fit the small topic, or no topic.
LARGE_BYTES: Final = (1_000, 3_500, 5_000)


class Killed(BaseException):
    """SIGKILL, at a point inside a transaction."""


class Registry:
    """A schema registry that knows nothing, and at times does not answer."""

    away = False

    def schema(self, schema_id: int) -> AvroSchema:
        if self.away:
            raise RegistryUnavailable("no answer")
        raise BadRecord.unreadable(f"schema id {schema_id} is not known")


class Life:
    """One schedule of work, ends of calls, faults, crashes, joins and leaves."""

    def __init__(self, seed: int, order: OrderName) -> None:
        self.rng = rng = random.Random(seed)
        self.order = order
        self.house = self.make_house()
        self._make_topics()
        self.registry = Registry()
        self.rules = replace(FAST, ready_bytes_max=rng.choice((2_000, FAST.ready_bytes_max)))
        self.workers: dict[int, Worker] = {}
        self.sources: dict[Source, tuple[str, str] | None] = {}
        #: How often a point inside a transaction is one of trouble.
        self.trouble = rng.choice((0.0, 0.05, 0.2))
        self.turning: int | None = None
        self.start(0)

    def make_house(self) -> House:
        rng = self.rng
        return House(
            limits=Limits(open_records_max=rng.choice((8, 24, 64)), txn_records_max=rng.choice((1, 4, 100))),
            session_timeout_s=0.05,
            poison_deaths_max=rng.choice((3, 1000)),
            slots=rng.choice((2, 6)),
            order=self.order,
        )

    def _make_topics(self) -> None:
        house, results = self.house, self.house.settings.outputs.results
        house.log.admin().delete([results], 1)
        house.create(results, 2, max_message_bytes="4000")
        house.create("headrace.replies.x", 2)
        house.create("headrace.replies.tiny", max_message_bytes="1500")
        house.create("headrace.replies.compacted", cleanup_policy="compact")
        house.create("headrace.replies.denied")
        house.log.deny("headrace.replies.denied")

    def start(self, slot: int) -> None:
        self.workers.pop(slot, None)
        try:
            self.workers[slot] = self.house.worker(
                slot, auto=False, rules=self.rules, reach=self.reach, registry=self.registry
            )
        except StreamError:
            """An injected fault met its start: it may come again."""

    def reach(self, _point: str) -> None:
        """Trouble inside a transaction of the worker whose turn it is."""
        if self.turning is None or self.rng.random() >= self.trouble:
            return
        what = self.rng.choice(self.troubles())
        if what == "kill":
            raise Killed
        if what == "lose":
            self._lose(self.turning)
        else:
            self.house.log.end_transaction(f"headrace.worker.sim.{self.turning:02d}")

    def troubles(self) -> tuple[str, ...]:
        return ("lose", "expire", "kill", "kill")

    def _lose(self, slot: int) -> None:
        self.workers[slot].sockets.consumer.lose()  # type: ignore[attr-defined]

    # ---- acts ----------------------------------------------------------------------------------------------------

    def put(self) -> None:
        rng, session = self.rng, self.rng.choice(SESSIONS)
        lane = rng.choice(LANES)
        # A session stays where its hash puts it.
        partition = rng.randrange(2) if session is None else len(session.encode()) * ord(session) % 2
        headers: Headers = []
        if rng.random() < 0.4:
            headers.append(("headrace-reply-to", b"headrace.replies." + rng.choice(REPLIES)))
        if rng.random() < 0.3:
            headers.append(("headrace-errors", b"result"))
        kind, value = rng.choice(FORMATS)
        made = self.house.put(
            rng.randrange(1, 6),
            lane=lane,
            partition=partition,
            session=session,
            headers=headers,
            format=kind,
            value=value,
        )
        self.sources.update(dict.fromkeys(made, None if session is None else (session, str(lane))))

    def end_calls(self) -> None:
        for worker in self.workers.values():
            inside = list(worker.runner.inside.values())
            for call in self.rng.sample(inside, self.rng.randrange(len(inside) + 1)):
                self._end(worker, call)

    def _end(self, worker: Worker, call: Call) -> None:
        kind = self.rng.random()
        if kind < 0.15:
            run = worker.runner.run_of(call)
            plain = answer_to(call, run)
            large = {**plain.body, "large": "y" * self.rng.choice(LARGE_BYTES)}
            worker.runner.end(call.source, Answer(large, plain.tokens, 0.0))
        elif kind < 0.25:
            worker.runner.end(call.source, Failure(ErrorClass.ENGINE, Stage.ENGINE, "no"))
        else:
            worker.runner.end(call.source)

    def turn(self) -> None:
        for slot in list(self.workers):
            self._turn(slot)

    def _turn(self, slot: int) -> None:
        worker = self.workers[slot]
        self.turning = slot
        try:
            worker.turn(1, step_s=self.rng.choice((0.0, 0.02, 0.2)))
        except (Killed, StreamError):
            self.turning = None
            worker.sockets.consumer.kill()  # type: ignore[attr-defined]
            self.start(slot)
        finally:
            self.turning = None

    def crash(self) -> None:
        """Without a last word; the same slot starts again."""
        self.start(self._one())

    def lose(self) -> None:
        self._lose(self._one())

    def join_or_leave(self) -> None:
        slot = self.rng.randrange(3)
        if slot not in self.workers:
            self.start(slot)
        elif len(self.workers) > 1:
            self._leave(slot)

    def _leave(self, slot: int) -> None:
        try:
            self.workers.pop(slot).close()
        except StreamError:
            """An injected fault met its last commit: it ends all the same."""

    def fault(self) -> None:
        self.house.log.inject(f"headrace.worker.sim.{self._one():02d}", self.rng.choice(list(Fault)))

    def registry_comes_or_goes(self) -> None:
        self.registry.away = not self.registry.away

    def _one(self) -> int:
        return self.rng.choice(list(self.workers))

    # ---- the schedule --------------------------------------------------------------------------------------------

    def run(self, steps: int) -> None:
        acts = [self.turn] * 9 + [self.end_calls] * 4 + [self.put] * 3
        acts += [
            self.crash,
            self.lose,
            self.join_or_leave,
            self.fault,
            self.fault,
            self.registry_comes_or_goes,
        ]
        for _ in range(steps):
            if not self.workers:
                self.start(0)
            self.rng.choice(acts)()
        self.trouble, self.registry.away = 0.0, False
        self._settle()

    def _settle(self) -> None:
        """Sessions of members that left expire by the real clock, however fast the turns are."""
        deadline_s = time.monotonic() + QUIET_S_MAX
        while time.monotonic() < deadline_s and self.outputs.total() < len(self.sources):
            if not self.workers:
                self.start(0)
            self.turn()
            for worker in self.workers.values():
                worker.runner.end_all()
        for slot in list(self.workers):
            self._leave(slot)

    @property
    def outputs(self) -> Counter[str]:
        return self.house.outputs_of("headrace.replies.x", "headrace.replies.tiny")

    # ---- the end -------------------------------------------------------------------------------------------------

    def check(self) -> None:
        once = {str(source): 1 for source in self.sources}
        assert self.outputs == once
        assert Counter(header(record, "headrace-source") for record in self.house.usage) == once
        if self.order != "none":
            self._check_outputs()
        if self.order == "serial":
            self._check_runs()

    def _check_outputs(self) -> None:
        """All usage is on one partition, in the transactions of the outputs: its order is theirs."""
        last: dict[tuple[str, str], Source] = {}
        for record in self.house.usage:
            source = Source.parse(header(record, "headrace-source"))
            session = self.sources[source]
            if session is not None:
                before = last.get(session)
                assert before is None or before < source, f"{session}: {source} went after {before}"
                last[session] = source

    def _check_runs(self) -> None:
        runs = self._runs()
        last: dict[tuple[str, str], int] = {}
        for source, session in sorted(self.sources.items()):
            if session is not None and source in runs:
                run = runs[source]
                assert self.house.runs.began[run] > last.get(session, 0), (
                    f"{source} of {session} ran too early"
                )
                last[session] = self.house.runs.ended[run]

    def _runs(self) -> dict[Source, int]:
        """The runs whose answers were committed."""
        runs = {}
        for topic in (self.house.settings.outputs.results, "headrace.replies.x", "headrace.replies.tiny"):
            for record in self.house.read(topic):
                response = json.loads(record.value() or b"").get("response")
                if response and "run" in response["body"]:
                    runs[Source.parse(header(record, "headrace-source"))] = response["body"]["run"]
        return runs
