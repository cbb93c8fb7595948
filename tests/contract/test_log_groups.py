"""The contract of the log for groups: who reads what, from where, and what happens when that changes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import pytest

from stream.errors import LogError, MemberFenced
from stream.log.base import Aborted, Assignor, Output, Partition, Success
from tests.contract.log_stage import PATIENCE_S, Follower, Member, Stage, commit, drive, out, settle


def _numbers(member: Member, topic: str) -> set[int]:
    return {place.partition for place in member.listener.owned if place.topic == topic}


def _fill(stage: Stage, topic: str, partitions: int, each: int = 3) -> None:
    stage.fill(*(out(topic, b"%d" % n, partition=p) for p in range(partitions) for n in range(each)))


def test_a_member_reads_on_from_the_offsets_its_listener_gives(stage: Stage) -> None:
    topic, group = stage.topic(2), stage.unique("group")
    _fill(stage, topic, 2)
    first = stage.member(group, [topic], "slot-00")
    settle([first], 2)
    stamp = first.consumer.group()
    assert stage.producer().publish([], [commit(Partition(topic, 1), 2)], stamp) == Success()
    first.consumer.close()

    second = stage.member(group, [topic], "slot-00")
    drive([second], lambda: len(second.ends) == 2)
    assert second.values(Partition(topic, 0)) == [b"0", b"1", b"2"]
    assert second.values(Partition(topic, 1)) == [b"2"]
    assert second.ends == {Partition(topic, 0): 3, Partition(topic, 1): 3}


def test_range_gives_a_member_the_same_partitions_of_every_topic(stage: Stage) -> None:
    lanes, group = [stage.topic(4), stage.topic(4)], stage.unique("group")
    one = stage.member(group, lanes, "slot-00")
    settle([one], 8)
    two = stage.member(group, lanes, "slot-01")
    settle([one, two], 8)
    assert _numbers(one, lanes[0]) == _numbers(one, lanes[1]) == {0, 1}
    assert _numbers(two, lanes[0]) == _numbers(two, lanes[1]) == {2, 3}
    assert len(one.listener.told("revoked")[0]) == 8


def test_the_last_commit_of_a_revoke_still_counts(stage: Stage) -> None:
    topic, group = stage.topic(2), stage.unique("group")
    place = Partition(topic, 0)
    one = stage.member(group, [topic], "slot-00")
    settle([one], 2)
    producer, outcomes = stage.producer(), []
    one.listener.on_revoked = lambda: outcomes.append(
        producer.publish([], [commit(place, 5, "last")], one.consumer.group())
    )
    two = stage.member(group, [topic], "slot-01")
    settle([one, two], 2)
    one.listener.on_revoked = None
    assert outcomes == [Success()]
    found = two.consumer.committed([place], PATIENCE_S)[place]
    assert found is not None
    assert found.offset == 5


def test_an_older_generation_cannot_commit(stage: Stage) -> None:
    topic, group = stage.topic(2), stage.unique("group")
    one = stage.member(group, [topic], "slot-00")
    settle([one], 2)
    old = one.consumer.group()
    two = stage.member(group, [topic], "slot-01")
    settle([one, two], 2)
    producer = stage.producer()
    refused = producer.publish([out(topic)], [commit(Partition(topic, 0), 9)], old)
    assert isinstance(refused, Aborted)
    assert refused.cause == "illegal_generation"
    assert not refused.delivery
    assert stage.read(topic) == []
    assert producer.publish([], [commit(Partition(topic, 0), 1)], one.consumer.group()) == Success()


def test_a_pause_outlives_a_rebalance(stage: Stage) -> None:
    topic, group = stage.topic(2), stage.unique("group")
    one = stage.member(group, [topic], "slot-00")
    settle([one], 2)
    one.consumer.pause([Partition(topic, 0)])
    two = stage.member(group, [topic], "slot-01")
    settle([one, two], 2)
    _fill(stage, topic, 2)
    drive([one, two], lambda: len(two.records) == 3)
    for _ in range(10):
        one.poll()
    assert one.records == []
    one.consumer.resume([Partition(topic, 0)])
    drive([one, two], lambda: len(one.records) == 3)
    assert one.values() == [b"0", b"1", b"2"]


@pytest.mark.parametrize("assignor", ["range", "roundrobin"])
def test_a_pause_taken_back_while_the_partition_was_away_is_over(stage: Stage, assignor: Assignor) -> None:
    topic, group = stage.topic(2), stage.unique("group")
    one = stage.member(group, [topic], assignor=assignor)
    settle([one], 2)
    places = [Partition(topic, 0), Partition(topic, 1)]
    one.consumer.pause(places)
    two = stage.member(group, [topic], assignor=assignor)
    settle([one, two], 2)
    one.consumer.resume(places)  # one of them is the other member's now
    two.consumer.close()
    drive([one], lambda: len(_numbers(one, topic)) == 2)
    _fill(stage, topic, 2)
    drive([one], lambda: len(one.records) == 6)


def test_a_paused_partition_reads_on_where_it_stopped(stage: Stage) -> None:
    topic = stage.topic(2)
    _fill(stage, topic, 2)
    one = stage.member(stage.unique("group"), [topic])
    drive([one], lambda: len(one.records) == 6)
    one.consumer.pause([Partition(topic, 1)])
    _fill(stage, topic, 2)
    drive([one], lambda: len(one.values(Partition(topic, 0))) == 6)
    assert len(one.values(Partition(topic, 1))) == 3
    one.consumer.resume([Partition(topic, 1)])
    drive([one], lambda: len(one.records) == 12)
    offsets = [record.offset() for record in one.records if record.partition() == 1]
    assert offsets == list(range(6))


def test_seek_goes_back(stage: Stage) -> None:
    topic = stage.topic()
    _fill(stage, topic, 1)
    one = stage.member(stage.unique("group"), [topic])
    drive([one], lambda: len(one.records) == 3)
    one.consumer.seek(Partition(topic, 0), 1)
    drive([one], lambda: len(one.records) == 5)
    assert one.values() == [b"0", b"1", b"2", b"1", b"2"]


class _Broken(Follower):
    def assigned(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        raise ZeroDivisionError(partitions)


class _Forgetful(Follower):
    def assigned(self, partitions: Sequence[Partition]) -> Mapping[Partition, int]:
        return {partitions[0]: 0}


@pytest.mark.parametrize(("listener", "error"), [(_Broken(), ZeroDivisionError), (_Forgetful(), LogError)])
def test_an_error_in_a_callback_comes_out_of_poll_and_nothing_flows(
    stage: Stage, listener: Follower, error: type[Exception]
) -> None:
    topic = stage.topic(2)
    _fill(stage, topic, 2)
    consumer = stage.log.consumer(stage.unique("group"))
    consumer.subscribe([topic], listener)
    member = Member(consumer, listener)
    with pytest.raises(error):
        drive([member], lambda: False)
    for _ in range(5):
        with pytest.raises(error):
            member.poll()
    assert member.records == []
    with pytest.raises(error):
        consumer.close()


def test_a_static_member_that_restarts_takes_its_partitions_without_disturbing_others(stage: Stage) -> None:
    topic, group = stage.topic(2), stage.unique("group")
    one = stage.member(group, [topic], "slot-00")
    two = stage.member(group, [topic], "slot-01")
    settle([one, two], 2)
    told = list(two.listener.events)
    again = stage.member(group, [topic], "slot-00")
    drive([again, two], lambda: again.listener.owned == {Partition(topic, 0)})
    assert two.listener.events == told
    with pytest.raises(MemberFenced):
        drive([one], lambda: False)


def test_partitions_of_a_static_member_that_left_move_after_its_session(stage: Stage) -> None:
    topic, group = stage.topic(2), stage.unique("group")
    one = stage.member(group, [topic], "slot-00", hasty=True)
    two = stage.member(group, [topic], "slot-01", hasty=True)
    settle([one, two], 2)
    one.consumer.close()
    drive([two], lambda: len(two.listener.owned) == 2)


def test_a_stalled_member_learns_that_its_partitions_are_lost_and_cannot_commit(stage: Stage) -> None:
    topic, group = stage.topic(), stage.unique("group")
    one = stage.member(group, [topic], hasty=True)
    settle([one], 1)
    stage.stall(one.consumer)
    producer = stage.producer()
    refused = producer.publish([out(topic)], [commit(Partition(topic, 0), 9)], one.consumer.group())
    assert isinstance(refused, Aborted)
    drive([one], lambda: one.listener.told("lost") != [])
    assert one.listener.told("revoked") == []
    settle([one], 1)
    assert producer.publish([], [commit(Partition(topic, 0), 1)], one.consumer.group()) == Success()


def test_round_robin_gives_equal_shares_over_all_topics(stage: Stage) -> None:
    topics, group = [stage.topic(1), stage.topic(1), stage.topic(2)], stage.unique("group")
    one = stage.member(group, topics, "slot-00", assignor="roundrobin")
    settle([one], 4)
    two = stage.member(group, topics, "slot-01", assignor="roundrobin")
    drive([one, two], lambda: len(one.listener.owned) == len(two.listener.owned) == 2)
    assert sum(len(partitions) for partitions in one.listener.told("revoked")) == 4
    for topic in topics:
        _fill(stage, topic, 1)
    drive([one, two], lambda: len(one.records) + len(two.records) == 9)
    assert not one.listener.owned & two.listener.owned


def test_a_regex_finds_topics_that_come_later(stage: Stage) -> None:
    name = stage.unique("late").replace(".", "-")
    first = stage.topic(1, name)
    consumer = stage.log.consumer(stage.unique("group"), regex_refresh_ms=500)
    listener = Follower(consumer)
    consumer.subscribe([f"^{name}-.*"], listener)
    one = Member(consumer, listener)
    settle([one], 1)
    second = stage.topic(1, name)
    drive([one], lambda: {place.topic for place in listener.owned} == {first, second})
    consumer.close()


def test_deleted_records_are_a_gap_at_the_front(stage: Stage) -> None:
    topic = stage.topic()
    place = Partition(topic, 0)
    _fill(stage, topic, 1, each=10)
    stage.admin.delete_records({place: 4}, PATIENCE_S)
    assert stage.admin.watermarks([place], PATIENCE_S)[place] == (4, 10)
    one = stage.member(stage.unique("group"), [topic])
    drive([one], lambda: one.ends.get(place) == 10)
    assert [record.offset() for record in one.records] == list(range(4, 10))
    assert one.consumer.watermarks(place, PATIENCE_S) == (4, 10)


def test_a_poll_gives_no_more_than_asked_for(stage: Stage) -> None:
    topic = stage.topic()
    _fill(stage, topic, 1, each=50)
    one = stage.member(stage.unique("group"), [topic])
    sizes: list[int] = []
    deadline = time.monotonic() + PATIENCE_S
    while sum(sizes) < 50 and time.monotonic() < deadline:
        sizes.append(len(one.consumer.poll(7, 0.1).records))
    assert sum(sizes) == 50
    assert max(sizes) <= 7


def test_a_reader_needs_a_topic_that_exists(stage: Stage) -> None:
    with pytest.raises(LogError, match="no topic"):
        stage.log.reader([stage.unique("missing")])


def test_a_reader_begins_where_it_is_told_and_follows(stage: Stage) -> None:
    topic = stage.topic(2)
    _fill(stage, topic, 2)
    reader = stage.log.reader({Partition(topic, 0): 2})
    assert [record.value() for record in reader.to_end(PATIENCE_S)] == [b"2"]
    stage.fill(Output(topic, None, b"new", [], 0))
    found: list[bytes | None] = []
    deadline = time.monotonic() + PATIENCE_S
    while not found and time.monotonic() < deadline:
        found += [record.value() for record in reader.poll(10, 0.1).records]
    reader.close()
    assert found == [b"new"]
