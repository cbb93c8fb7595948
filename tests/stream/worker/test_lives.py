"""Random lives of workers on the log in memory: crashes, restarts, joins, leaves, aborted and unknown commits.

At the end of each: every input has exactly one output, and the published runs of a session began in input order, one
at a time.
"""

from __future__ import annotations

import json
import random
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.headers import Headers
from schemas.lane import LANES
from schemas.source import Source
from stream.config.settings import Limits
from stream.log.memory import Fault
from tests.stream.worker.house import House, Worker, header

SESSIONS = (None, None, "a", "b", "c")
#: Real seconds until everything must have been answered.
QUIET_S_MAX = 60.0


class Life:
    """One random schedule."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.house = House(
            limits=Limits(open_records_max=24), session_timeout_s=0.05, poison_deaths_max=1000, slots=6
        )
        self.house.create("headrace.replies.x", 2)
        self.workers: dict[int, Worker] = {}
        self.sources: dict[Source, tuple[str, str] | None] = {}
        self.start(0)

    def start(self, slot: int) -> None:
        self.workers[slot] = self.house.worker(slot, auto=False)

    def put(self) -> None:
        session = self.rng.choice(SESSIONS)
        lane = self.rng.choice(LANES)
        # A session stays where its hash puts it.
        partition = self.rng.randrange(2) if session is None else len(session.encode()) * ord(session) % 2
        target: Headers = [("headrace-reply-to", b"headrace.replies.x")] if self.rng.random() < 0.2 else []
        made = self.house.put(
            self.rng.randrange(1, 6), lane=lane, partition=partition, session=session, headers=target
        )
        self.sources.update(dict.fromkeys(made, None if session is None else (session, str(lane))))

    def turn(self) -> None:
        for worker in list(self.workers.values()):
            worker.turn(1, step_s=self.rng.choice((0.0, 0.02, 0.2)))

    def end_calls(self) -> None:
        for worker in self.workers.values():
            inside = list(worker.runner.inside.values())
            for call in self.rng.sample(inside, self.rng.randrange(len(inside) + 1)):
                worker.runner.end(call.source)

    def crash(self) -> None:
        """Without a last word; the same slot starts again."""
        slot = self.rng.choice(list(self.workers))
        self.start(slot)

    def join_or_leave(self) -> None:
        slot = self.rng.randrange(3)
        if slot not in self.workers:
            self.start(slot)
        elif len(self.workers) > 1:
            self.workers.pop(slot).close()

    def fault(self) -> None:
        slot = self.rng.choice(list(self.workers))
        self.house.log.inject(f"headrace.worker.sim.{slot:02d}", self.rng.choice(list(Fault)))

    def run(self, steps: int) -> None:
        acts = [self.turn] * 8 + [self.end_calls] * 4 + [self.put] * 3
        acts += [self.crash, self.join_or_leave, self.fault, self.fault]
        for _ in range(steps):
            self.rng.choice(acts)()
        # Sessions of members that left expire by the real clock, however fast the turns are.
        deadline_s = time.monotonic() + QUIET_S_MAX
        while time.monotonic() < deadline_s:
            self.turn()
            for worker in self.workers.values():
                worker.runner.end_all()
            if self.house.outputs_of("headrace.replies.x").total() >= len(self.sources):
                break
        for worker in self.workers.values():
            worker.close()

    def check(self) -> None:
        assert self.house.outputs_of("headrace.replies.x") == {str(source): 1 for source in self.sources}
        assert not self.house.dead_letters
        runs = {}
        for record in self.house.results + self.house.read("headrace.replies.x"):
            run = json.loads(record.value() or b"")["response"]["body"]["run"]
            runs[Source.parse(header(record, "headrace-source"))] = run
        last: dict[tuple[str, str], int] = {}
        for source, session in sorted(self.sources.items()):
            if session is not None:
                run = runs[source]
                assert self.house.runs.began[run] > last.get(session, 0), (
                    f"{source} of {session} ran too early"
                )
                last[session] = self.house.runs.ended[run]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_whatever_happens_each_input_has_one_output_and_sessions_keep_their_order(seed: int) -> None:
    life = Life(seed)
    life.run(60)
    life.check()
