"""Whatever becomes of a transaction, each visible input has one output and the offsets say so."""

from __future__ import annotations

import pytest

from stream.config.settings import InputBinding, Limits, Settings
from stream.dispatcher.bindings import Bindings
from stream.dispatcher.loop import Dispatcher
from stream.errors import LogError, LogFenced, TopicMismatch
from stream.ledger.offset_map import OffsetMap, encode
from stream.log.base import OffsetCommit, Output, Partition
from stream.log.memory import Fault
from tests.stream.dispatcher.stage import INPUT, QUICK, Stage, bound, line
from workers.endpoint import Endpoint

GOOD = line()
WORK = "headrace.work.sim.batch"


def turn(made: Dispatcher, times: int = 10) -> None:
    for _ in range(times):
        made.turn()


def fail(point: str) -> None:
    """Leaves a transaction open once its records are sent."""
    if point == "produced":
        raise ZeroDivisionError


def commit_by_hand(stage: Stage, offset: int, metadata: str, partition: int = 0) -> None:
    """The group's offset as somebody else may have left it."""
    group = stage.settings.dispatcher_group
    consumer = stage.log.consumer(group, assignor="cooperative-sticky")

    class Listener:
        def assigned(self, partitions: object) -> dict[Partition, int]:
            return dict.fromkeys(partitions, 0)  # type: ignore[call-overload, no-any-return]

        def revoked(self, partitions: object) -> None:
            """Nothing is kept."""

        lost = revoked

    consumer.subscribe([INPUT], Listener())
    consumer.poll(1, 0)
    producer = stage.log.producer("by-hand")
    producer.start(1)
    producer.publish([], [OffsetCommit(INPUT, partition, offset, metadata)], consumer.group())
    consumer.close()


@pytest.mark.parametrize(
    "faults",
    [
        [Fault.ABORTED],
        [Fault.ABORTED] * 5,
        [Fault.COMMITTED_UNKNOWN],
        [Fault.OPEN_UNKNOWN],
        [Fault.OPEN_UNKNOWN, Fault.ABORTED, Fault.COMMITTED_UNKNOWN, Fault.OPEN_UNKNOWN],
    ],
)
def test_aborts_and_unknown_outcomes_lose_nothing_and_repeat_nothing(faults: list[Fault]) -> None:
    stage = Stage()
    for partition in range(4):
        stage.send(GOOD, b"no", GOOD, key=b"k%d" % partition, partition=partition)
    stage.inject(*faults)
    stage.dispatch(30)
    assert (len(stage.work), len(stage.dead)) == (8, 4)
    stage.assert_each_input_has_one_output()


def test_records_that_arrive_during_trouble_come_after_those_before_them() -> None:
    stage = Stage()
    made = stage.dispatcher()
    stage.inject(*[Fault.ABORTED] * 4)
    for number in range(8):
        stage.send(line(custom_id=str(number)), key=b"one")
        made.turn()
    for _ in range(10):
        made.turn()
    made.close()
    offsets = [work.source.offset for work in stage.work]
    assert offsets == list(range(8))
    positions = [record.offset() for record in stage.records(WORK)]
    assert positions == sorted(positions)
    stage.assert_each_input_has_one_output()


def test_a_twin_under_the_same_slot_fences_the_first_which_ends() -> None:
    stage = Stage()
    first = stage.dispatcher()
    first.turn()
    second = stage.log.producer("headrace.dispatcher.00")
    second.start(1)
    stage.send(GOOD)
    with pytest.raises(LogFenced) as fenced:
        turn(first)
    assert fenced.value.exit_code == 4


def test_a_process_that_dies_in_a_transaction_is_followed_by_one_that_repeats_it() -> None:
    class Killed(BaseException):
        """SIGKILL at a point of the transaction."""

    for point in ("begun", "produced", "offsets_sent", "committed"):
        stage = Stage()

        def kill(at: str, point: str = point) -> None:
            if at == point:
                raise Killed

        stage.send(GOOD, b"no", GOOD)
        stage.reach = kill
        victim = stage.dispatcher()
        with pytest.raises(Killed):
            turn(victim)
        stage.reach = lambda _point: None
        stage.dispatch()
        assert (len(stage.work), len(stage.dead)) == (2, 1), point
        stage.assert_each_input_has_one_output()


def test_a_work_record_too_large_for_its_topic_alone_becomes_a_dead_letter() -> None:
    stage = Stage()
    stage.admin.delete([WORK], 1)
    stage.topic(WORK, 4, max_message_bytes="2000")
    large = line(custom_id="x" * 3000)
    stage.send(*[GOOD] * 50, large, *[GOOD] * 30, large, GOOD)
    stage.dispatch(60)
    assert [(d.source.offset, d.failure.error_class, d.failure.stage) for d in stage.dead] == [
        (50, "too_large", "publish"),
        (81, "too_large", "publish"),
    ]
    assert {letter.value for letter in stage.dead} == {large}
    assert len(stage.work) == 81
    stage.assert_each_input_has_one_output()


def test_a_dead_letter_that_its_topic_refuses_goes_without_its_value() -> None:
    stage = Stage(
        Settings(
            endpoints={"sim": Endpoint("sim", "simulated", partitions=4)},
            limits=Limits(txn_records_max=1),
        )
    )
    made = stage.dispatcher()
    stage.admin.delete(["headrace.dead-letters"], 1)
    stage.topic("headrace.dead-letters", 4, max_message_bytes="3000")
    stage.send(b"x" * 5000, GOOD)
    for _ in range(10):
        made.turn()
    made.close()
    [letter] = stage.dead
    assert (letter.value, letter.value_omitted) == (None, 5000)
    stage.assert_each_input_has_one_output()


def test_a_work_topic_that_is_gone_stops_the_dispatcher_with_an_alarm() -> None:
    stage = Stage()
    made = stage.dispatcher()
    stage.admin.delete([WORK], 1)
    stage.send(GOOD)
    with pytest.raises(LogError, match="takes no records"):
        turn(made)


def test_a_reply_topic_that_refuses_an_error_result_costs_only_that_record() -> None:
    stage = Stage()
    stage.topic("headrace.replies.app")
    stage.log.deny("headrace.replies.app")
    reply = [("headrace-errors", b"result"), ("headrace-reply-to", b"headrace.replies.app")]
    stage.send(GOOD)
    stage.send(b"no", headers=reply)  # type: ignore[arg-type]
    stage.send(GOOD)
    stage.dispatch(30)
    [letter] = stage.dead
    assert (letter.failure.error_class, letter.failure.stage) == ("unwritable", "publish")
    assert (letter.value, letter.original_headers) == (b"no", reply)
    assert len(stage.work) == 2
    stage.assert_each_input_has_one_output()


def test_the_end_of_a_transactional_input_is_committed_over_its_markers() -> None:
    stage = Stage()
    producer = stage.log.producer("app")
    producer.start(1)
    producer.publish([Output(INPUT, None, GOOD, [], 0)] * 2, [], None)
    with pytest.raises(ZeroDivisionError):
        producer.publish([Output(INPUT, None, b"never seen", [], 0)], [], None, reach=fail)
    producer.start(1)
    producer.publish([Output(INPUT, None, GOOD, [], 0)], [], None)
    stage.dispatch()
    assert (len(stage.work), len(stage.dead)) == (3, 0)
    stage.assert_each_input_has_one_output()


def test_offsets_without_records_wait_to_share_a_transaction() -> None:
    counted: list[str] = []

    class Counting:
        def count(self, name: str, amount: float = 1, **labels: str) -> None:
            if name == "headrace_transactions_total":
                counted.append(labels["outcome"])

        def level(self, name: str, value: float, **labels: str) -> None:
            """Not looked at."""

        observe = level

    stage = Stage(metrics=Counting(), rules=QUICK.__class__(poll_s=0, gap_commit_s=10, lag_every_s=1e9))  # type: ignore[arg-type]
    producer = stage.log.producer("app")
    producer.start(1)
    made = stage.dispatcher()
    turn(made)
    assert counted == []
    # A transaction without anything that can be seen, but with a marker.
    with pytest.raises(ZeroDivisionError):
        producer.publish([Output(INPUT, None, GOOD, [], 0)], [], None, reach=fail)
    producer.start(1)
    turn(made)
    assert counted == []
    stage.seconds = 11
    turn(made)
    assert counted == ["committed"]
    made.close()
    stage.assert_each_input_has_one_output()


@pytest.mark.parametrize(
    ("metadata", "offset"),
    [
        ("v1:nonsense", 1),
        ("lAAAA", 1),
        (encode(OffsetMap.empty(2)), 1),
        (encode(OffsetMap(1, 3, (1, 2))), 1),
        (encode(OffsetMap.empty(99)), 99),
    ],
)
def test_a_partition_whose_metadata_cannot_be_trusted_is_set_aside_and_the_others_flow(
    metadata: str, offset: int
) -> None:
    stage = Stage()
    stage.send(GOOD, GOOD, GOOD, GOOD, GOOD)
    stage.send(GOOD, GOOD, partition=1)
    commit_by_hand(stage, offset, metadata)
    stage.dispatch()
    assert [work.source[1:] for work in stage.work] == [(1, 0), (1, 1)]
    found = stage.committed[Partition(INPUT, 0)]
    assert found == (offset, metadata)


def test_offsets_of_an_operator_without_a_map_are_accepted() -> None:
    stage = Stage()
    stage.send(GOOD, GOOD, GOOD)
    commit_by_hand(stage, 2, "")
    stage.dispatch()
    assert [work.source.offset for work in stage.work] == [2]


def test_records_deleted_before_they_were_read_are_counted_as_a_gap() -> None:
    gaps: list[float] = []

    class Counting:
        def count(self, name: str, amount: float = 1, **labels: str) -> None:
            if name == "headrace_gap_records_total":
                gaps.append(amount)

        def level(self, name: str, value: float, **labels: str) -> None:
            """Not looked at."""

        observe = level

    stage = Stage(metrics=Counting())  # type: ignore[arg-type]
    stage.send(*[GOOD] * 5)
    commit_by_hand(stage, 1, "")
    stage.admin.delete_records({Partition(INPUT, 0): 4}, 1)
    stage.dispatch()
    assert gaps == [3]
    assert [work.source.offset for work in stage.work] == [4]


def test_a_member_that_joins_takes_partitions_over_without_a_repeat() -> None:
    stage = Stage()
    for partition in range(8):
        stage.send(*[line(custom_id=str(number)) for number in range(20)], key=b"k", partition=partition)
    first = stage.dispatcher(0)
    first.turn()
    second = stage.dispatcher(1)
    for partition in range(8):
        stage.send(*[GOOD] * 5, partition=partition)
    for _ in range(30):
        first.turn()
        second.turn()
    first.close()
    for partition in range(8):
        stage.send(GOOD, partition=partition)
    stage.log.consumer(stage.settings.dispatcher_group)
    second.turn()
    second.close()
    stage.dispatch(30)
    sources = [work.source for work in stage.work]
    assert len(sources) == len(set(sources))
    assert len(sources) >= 8 * 25


def test_a_topic_that_two_patterns_claim_is_set_aside() -> None:
    stage = Stage(bound(InputBinding("^eu[.].*"), InputBinding("^.*[.]reviews")))
    stage.topic("eu.reviews")
    stage.topic("eu.other")
    stage.send(GOOD, topic="eu.reviews")
    stage.send(GOOD, topic="eu.other")
    stage.dispatch()
    assert [work.source.topic for work in stage.work] == ["eu.other"]


def test_a_topic_that_we_write_is_never_read_whatever_a_pattern_says() -> None:
    bindings = Bindings(bound(InputBinding("^headrace[.]re.*", tenant="t")))
    assert bindings.find("headrace.reviews").tenant == "t"
    assert bindings.find(INPUT).tenant is None
    for name in ("headrace.replies.app", "headrace.results", "headrace.replays", "elsewhere"):
        with pytest.raises(TopicMismatch):
            bindings.find(name)
