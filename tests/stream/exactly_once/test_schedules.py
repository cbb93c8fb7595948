"""Random schedules of deliver, finish, commit, abort, unknown outcome and crash against a model of the log.

Whatever happens: nothing is lost, nothing is published twice, and the outputs of a session are published in input order;
with serial order its published runs also started in it, one at a time. Ledger, map, order and selection are the real ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.lane import LANES, Lane
from stream.exactly_once.ledger import LedgerLimits, PartitionLedger, Stage
from stream.exactly_once.offset_map import decode
from stream.exactly_once.ready_answers import ReadyAnswers
from stream.exactly_once.selection import Caps, choose_kind, select
from stream.exactly_once.session_order import SessionOrder
from stream.exactly_once.work_item import OWN, WorkItem
from stream.log.base import Output, Partition
from stream.log.memory.partition import MemoryRecord

LANE_OF = (Lane.INTERACTIVE, Lane.BATCH)


@dataclass
class Spot:
    """One offset of the model's log."""

    visible: bool
    session: tuple[str, str] | None
    target: str


@dataclass
class Process:
    """What a worker process knows; a crash replaces it."""

    books: dict[Partition, PartitionLedger[WorkItem]]
    orders: dict[Partition, SessionOrder[WorkItem]]
    ready: ReadyAnswers = field(default_factory=ReadyAnswers)
    running: list[WorkItem] = field(default_factory=list)
    began: dict[WorkItem, int] = field(default_factory=dict)
    ended: dict[WorkItem, int] = field(default_factory=dict)


class World:
    """The log, the committed offsets, and what was published."""

    def __init__(self, logs: list[list[Spot]], serial: bool) -> None:
        self.serial = serial
        self.logs = {Partition(f"work.{LANE_OF[i % 2]}", i // 2): log for i, log in enumerate(logs)}
        self.committed: dict[Partition, tuple[int, str]] = dict.fromkeys(self.logs, (0, ""))
        #: Start and end of each published run, in the order of publication.
        self.published: dict[tuple[Partition, int], tuple[int, int]] = {}
        self.time = 0
        self.process = self.start()

    def start(self) -> Process:
        books = {}
        for partition, (offset, text) in self.committed.items():
            end = len(self.logs[partition])
            loaded = decode(text, offset, end)
            limits = LedgerLimits(open_records_max=6, span_offsets_max=12)
            books[partition] = PartitionLedger[WorkItem](partition, loaded, end, limits)
        return Process(books, {p: SessionOrder(serial=self.serial) for p in books})

    # ---- steps ---------------------------------------------------------------------------------------------------

    def deliver(self, partition: Partition) -> None:
        """The next visible record, or the end event where there is none."""
        process, book, log = self.process, self.process.books[partition], self.logs[partition]
        offset = next((o for o in range(book.next_seen, len(log)) if log[o].visible), None)
        if offset is None:
            book.end(len(log))
            return
        if not book.room:
            return
        message = MemoryRecord((*partition, offset), None, b"", [], 0)
        record = WorkItem(message, offset, LANE_OF[partition.topic.endswith("batch")], book)
        record.session, record.target = log[offset].session, log[offset].target
        record.outputs = (Output("out", None, b"", []),)
        if book.deliver(offset, record) and (
            record.session is None or process.orders[partition].admit(record.session, record)
        ):
            self.begin(record)

    def begin(self, record: WorkItem) -> None:
        self.time += 1
        self.process.began[record] = self.time
        self.process.running.append(record)

    def finish(self, which: int) -> None:
        process = self.process
        if not process.running:
            return
        record = process.running.pop(which % len(process.running))
        self.time += 1
        process.ended[record] = self.time
        assert record.ledger is not None
        released = [record]
        if record.session is not None:
            order = process.orders[record.ledger.partition]
            released = order.finish(record.session, record, 1)
            follower = order.first(record.session)
            if self.serial and follower is not None:
                self.begin(follower)
        for each in released:
            each.ready_s = float(self.time)
            record.ledger.finish(each.offset)
            process.ready.add(each)

    def transaction(self, outcome: str, cap: int, all_lanes: bool) -> None:
        process = self.process
        lanes = process.ready.due_lanes(self.time, 5.0, all_lanes=all_lanes)
        answers = process.ready.of(lanes)
        kind = choose_kind(answers, lambda topic: topic, self.time - 10.0)
        chosen = (
            []
            if kind is None
            else select(answers, kind, lambda topic: topic, Caps(cap, 10**6, 100), {"out": 8})
        )
        stages = self.stages(chosen)
        happened = outcome in ("success", "unknown, committed", "crash after commit")
        if happened:
            self.publish(chosen, stages)
        if outcome.startswith("crash"):
            self.process = self.start()
            return
        for book, stage in stages:
            if outcome.startswith("unknown"):
                offset, text = self.committed[book.partition]
                dropped = book.reconcile(stage, decode(text, offset, len(self.logs[book.partition])))
            elif happened:
                dropped = book.commit(stage)
            else:
                book.abort(stage)
                dropped = []
            process.ready.remove(dropped)

    def stages(self, chosen: list[WorkItem]) -> list[tuple[PartitionLedger[WorkItem], Stage]]:
        of: dict[Partition, set[int]] = {p: set() for p, book in self.process.books.items() if book.dirty}
        for record in chosen:
            assert record.ledger is not None
            of.setdefault(record.ledger.partition, set()).add(record.offset)
        return [(self.process.books[p], self.process.books[p].stage(offsets)) for p, offsets in of.items()]

    def publish(self, chosen: list[WorkItem], stages: list[tuple[PartitionLedger[WorkItem], Stage]]) -> None:
        for record in chosen:
            assert record.ledger is not None
            key = (record.ledger.partition, record.offset)
            assert key not in self.published, f"{key} was published twice"
            self.published[key] = (self.process.began[record], self.process.ended[record])
        for book, stage in stages:
            assert stage.base >= self.committed[book.partition][0], "the committed base went back"
            self.committed[book.partition] = (stage.base, stage.metadata)

    # ---- the end -------------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Everything that is still there runs to its end."""
        for _ in range(200):
            for partition in self.logs:
                self.deliver(partition)
            self.finish(0)
            self.time += 20
            self.transaction("success", 100, all_lanes=True)

    def check(self) -> None:
        expected = {(p, o) for p, log in self.logs.items() for o, spot in enumerate(log) if spot.visible}
        assert set(self.published) == expected
        for partition, log in self.logs.items():
            offset, text = self.committed[partition]
            assert offset == len(log)
            assert not decode(text, offset, len(log)).incomplete
            self.check_order(partition, log)

    def check_order(self, partition: Partition, log: list[Spot]) -> None:
        last: dict[tuple[str, str], tuple[int, int]] = {}
        for place, o in self.published:
            session = log[o].session if place == partition else None
            if session is not None:
                began, ended = self.published[place, o]
                before, free = last.get(session, (-1, 0))
                assert o > before, f"{session}: {o} was published after {before}"
                assert began > free or not self.serial, f"{session}: {o} ran before {before} was done"
                last[session] = (o, ended)


SPOTS = st.builds(
    Spot,
    visible=st.sampled_from([True, True, True, False]),
    session=st.sampled_from([None, ("t", "a"), ("t", "b"), ("u", "a")]),
    target=st.sampled_from([OWN, OWN, "reply.x", "reply.y"]),
)
STEPS = st.one_of(
    st.tuples(st.just("deliver"), st.integers(0, 3)),
    st.tuples(st.just("finish"), st.integers(0, 9)),
    st.tuples(
        st.just("transaction"),
        st.tuples(
            st.sampled_from(
                ["success"] * 5
                + ["aborted", "unknown, committed", "unknown, aborted", "crash before", "crash after commit"]
            ),
            st.integers(1, 6),
            st.booleans(),
        ),
    ),
)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.lists(SPOTS, max_size=25), min_size=1, max_size=4),
    st.lists(STEPS, max_size=120),
    st.booleans(),
)
def test_nothing_is_lost_nothing_comes_twice_and_sessions_keep_their_order(
    logs: list[list[Spot]], steps: list[tuple[str, Any]], serial: bool
) -> None:
    world = World(logs, serial)
    partitions = list(world.logs)
    for name, argument in steps:
        if name == "deliver":
            world.deliver(partitions[argument % len(partitions)])
        elif name == "finish":
            world.finish(argument)
        else:
            world.transaction(*argument)
    world.settle()
    world.check()


def test_the_lanes_are_what_the_model_thinks() -> None:
    assert set(LANE_OF) < set(LANES)
