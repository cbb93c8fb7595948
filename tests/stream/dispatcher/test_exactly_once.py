"""Whatever becomes of a transaction, each visible input has one output and the offsets say so."""

from __future__ import annotations

import pytest

from stream.config.settings import Limits, Settings
from stream.dispatcher.loop import Dispatcher
from stream.errors import LogError, LogFenced
from stream.log.base import Output
from stream.log.memory.log import Fault
from tests.stream.dispatcher.stage import INPUT, QUICK, Stage, line
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
    second.turn()
    second.close()
    stage.dispatch(30)
    sources = [work.source for work in stage.work]
    assert len(sources) == len(set(sources))
    assert len(sources) >= 8 * 25
