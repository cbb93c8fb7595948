"""Which answers the next transaction carries."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from schemas.lane import Lane
from stream.exactly_once.ledger import LedgerLimits, PartitionLedger
from stream.exactly_once.offset_map import OffsetMap
from stream.exactly_once.ready_answers import ReadyAnswers
from stream.exactly_once.selection import PROVEN, Caps, choose_kind, select
from stream.exactly_once.work_item import OWN, WorkItem
from stream.log.base import Output, Partition
from stream.log.memory.partition import MemoryRecord

WIDE = Caps(1_000, 10**9, 1_000)
LEDGER = PartitionLedger[WorkItem](Partition("work", 0), OffsetMap.empty(0), 1, LedgerLimits())
MESSAGE = MemoryRecord(("work", 0, 0), None, b"", [], 0)


def answer(
    *,
    lane: Lane = Lane.BATCH,
    session: str | None = None,
    target: str = OWN,
    size: int = 1,
    ready_s: float = 0.0,
    topics: tuple[str, ...] = ("results",),
) -> WorkItem:
    record = WorkItem(MESSAGE, 0, lane, LEDGER)
    record.session = None if session is None else ("t", session)
    record.target, record.size_bytes, record.ready_s = target, size, ready_s
    record.outputs = tuple(Output(topic, None, b"", []) for topic in topics)
    return record


def alone(topic: str) -> str:
    return topic


def test_a_doubted_kind_and_what_is_behind_it_in_its_session_goes_last() -> None:
    sick = answer(target="sick", session="s")
    behind = answer(target="other", session="s", ready_s=1.0)
    free = answer(target="well", ready_s=2.0)

    def doubted(kind: str) -> bool:
        return kind == "sick"

    assert choose_kind([[sick, behind, free]], alone, 10.0) == "sick"
    assert choose_kind([[sick, behind, free]], alone, 10.0, doubted) == "well"
    assert choose_kind([[sick, behind]], alone, 10.0, doubted) == "sick"


def test_the_caps_cut_a_prefix() -> None:
    answers = [answer(size=10) for _ in range(5)]
    assert select([answers], OWN, alone, Caps(3, 10**9), {}) == answers[:3]
    assert select([answers], OWN, alone, Caps(100, 25), {}) == answers[:2]


def test_one_answer_over_every_cap_goes_all_the_same() -> None:
    answers = [answer(size=10**9), answer()]
    assert select([answers], OWN, alone, Caps(1, 5, 1), {"results": 8}) == answers[:1]


def test_output_partitions_are_counted_as_far_as_a_topic_has_them() -> None:
    answers = [answer(topics=("results", "usage")) for _ in range(20)]
    assert len(select([answers], OWN, alone, Caps(100, 10**9, 6), {"results": 2, "usage": 4})) == 20
    assert len(select([answers], OWN, alone, Caps(100, 10**9, 5), {"results": 2, "usage": 4})) == 3


def test_a_session_never_overtakes_itself() -> None:
    first = answer(session="s", target="x")
    second = answer(session="s")
    other = answer(session="o")
    assert select([[first, second, other]], OWN, alone, WIDE, {}) == [other]
    assert select([[first, second, other]], "x", alone, WIDE, {}) == [first]


def test_sessions_of_another_lane_hold_nothing_up() -> None:
    above, below = answer(lane=Lane.INTERACTIVE, session="s", target="x"), answer(session="s")
    assert select([[above], [below]], OWN, alone, WIDE, {}) == [below]


def test_proven_topics_share_and_unproven_ones_go_alone() -> None:
    answers = [answer(target=topic) for topic in ("a", "b", "c")]

    def kind_of(topic: str) -> str:
        return PROVEN if topic in "ab" else topic

    assert select([answers], PROVEN, kind_of, WIDE, {}) == answers[:2]
    assert select([answers], "c", kind_of, WIDE, {}) == answers[2:]


def test_the_kind_is_that_of_the_highest_lane_unless_something_is_overdue() -> None:
    above = [answer(lane=Lane.INTERACTIVE, ready_s=9.0)]
    below = [answer(target="x", ready_s=1.0)]
    assert choose_kind([above, below], alone, overdue_before_s=0.5) == OWN
    assert choose_kind([above, below], alone, overdue_before_s=2.0) == "x"
    assert choose_kind([], alone, overdue_before_s=0) is None


class TestDueLanes:
    def ready(self, *answers: WorkItem) -> ReadyAnswers:
        made = ReadyAnswers()
        for record in answers:
            made.add(record)
        return made

    def test_a_higher_lane_goes_at_once_and_alone(self) -> None:
        ready = self.ready(answer(ready_s=1.0), answer(lane=Lane.INTERACTIVE, ready_s=1.0))
        assert ready.due_lanes(1.05, 0.1) == [Lane.INTERACTIVE]

    def test_a_lower_lane_joins_once_its_oldest_answer_is_older_than_the_interval(self) -> None:
        ready = self.ready(answer(ready_s=1.0), answer(lane=Lane.INTERACTIVE, ready_s=1.1))
        assert ready.due_lanes(1.11, 0.1) == [Lane.INTERACTIVE, Lane.BATCH]

    def test_batch_alone_waits_for_the_interval(self) -> None:
        ready = self.ready(answer(ready_s=1.0))
        assert ready.due_lanes(1.05, 0.1) == []
        assert ready.due_lanes(1.11, 0.1) == [Lane.BATCH]
        assert ready.due_lanes(1.0, 0.1, all_lanes=True) == [Lane.BATCH]


@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, "a", "b", "c"]),
            st.sampled_from([OWN, "x", "y"]),
            st.integers(1, 50),
        ),
        max_size=40,
    ),
    st.integers(1, 20),
    st.integers(1, 400),
)
def test_transactions_of_any_kind_keep_each_session_in_order(
    rows: list[tuple[str | None, str, int]], records_max: int, bytes_max: int
) -> None:
    left = [answer(session=session, target=target, size=size) for session, target, size in rows]
    went: list[WorkItem] = []
    whole = list(left)
    while left:
        kind = choose_kind([left], alone, overdue_before_s=-1)
        assert kind is not None
        chosen = select([left], kind, alone, Caps(records_max, bytes_max), {})
        assert chosen, "every round gets on"
        assert len(chosen) <= records_max
        assert len({record.target for record in chosen}) == 1
        went += chosen
        left = [record for record in left if record not in chosen]
    for name in "abc":
        of_session = [record for record in whole if record.session == ("t", name)]
        assert [record for record in went if record.session == ("t", name)] == of_session
