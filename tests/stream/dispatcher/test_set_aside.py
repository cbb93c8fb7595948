"""What cannot be trusted is not read: partitions with strange metadata, topics that nobody or two claim."""

from __future__ import annotations

import pytest

from stream.config.settings import InputBinding
from stream.dispatcher.bindings import Bindings
from stream.dispatcher.loop import Dispatcher
from stream.errors import TopicMismatch
from stream.exactly_once.offset_map import OffsetMap, encode
from stream.log.base import OffsetCommit, Partition, Success
from tests.stream.dispatcher.stage import INPUT, Stage, bound, line

GOOD = line()


def commit_by_hand(stage: Stage, offset: int, metadata: str, partition: int = 0) -> None:
    """The group's offset as somebody else may have left it."""
    group = stage.settings.dispatcher_group
    consumer = stage.log.consumer(group, assignor="roundrobin")

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


def test_a_partition_that_was_mended_is_read_again_within_ten_seconds_and_no_assignment() -> None:
    stage = Stage()
    stage.send(GOOD, GOOD, GOOD)
    commit_by_hand(stage, 1, "v1:nonsense")
    made = stage.dispatcher()
    made.turn()
    assert stage.work == []
    mend(stage, made, 1, encode(OffsetMap.empty(1)))
    turn(stage, made, 9)
    assert stage.work == []
    turn(stage, made, 1)
    assert [work.source.offset for work in stage.work] == [1, 2]
    made.close()
    stage.dispatch()
    assert [work.source.offset for work in stage.work] == [1, 2]


def test_an_offset_beyond_the_end_does_not_become_sound_because_the_topic_grows() -> None:
    stage = Stage()
    stage.send(GOOD)
    commit_by_hand(stage, 3, encode(OffsetMap.empty(3)))
    made = stage.dispatcher()
    made.turn()
    stage.send(GOOD, GOOD, GOOD)
    turn(stage, made, 11)
    assert stage.work == []
    made.close()


def turn(stage: Stage, made: Dispatcher, seconds: float) -> None:
    stage.seconds += seconds
    for _ in range(4):
        made.turn()


def mend(stage: Stage, made: Dispatcher, offset: int, metadata: str) -> None:
    """As `headrace quarantine` does beside a running dispatcher: nothing of it is assigned anew."""
    producer = stage.log.producer("by-hand")
    producer.start(1)
    commit = OffsetCommit(INPUT, 0, offset, metadata)
    assert isinstance(producer.publish([], [commit], made._consumer.group()), Success)


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
