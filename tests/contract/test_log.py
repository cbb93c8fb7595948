"""The contract of the log: records, transactions, offsets with their maps. One suite for memory and real Kafka."""

from __future__ import annotations

import os
import threading
from functools import partial

import pytest

from stream.errors import LogError, LogTimeout
from stream.log import reasons
from stream.log.base import Aborted, Committed, Fenced, Output, Partition, Success, Unknown, Watermarks
from stream.log.limits import METADATA_CHARS_MAX
from stream.log.memory.murmur2 import partition_of
from tests.contract.log_stage import PATIENCE_S, Stage, commit, drive, out, settle, stamp_with


def test_a_record_comes_back_as_it_was_published(stage: Stage) -> None:
    topic = stage.topic()
    headers = [("a", b"1"), ("a", b""), ("none", None), ("ü", "ü".encode())]
    outcome = stage.producer().publish(
        [
            Output(topic, b"\x00key", b"value", headers, 0, 1_700_000_000_123),
            Output(topic, None, None, [], 0),
        ],
        [],
        None,
    )
    assert outcome == Success()
    full, empty = stage.read(topic)
    assert (full.key(), full.value(), full.headers()) == (b"\x00key", b"value", headers)
    assert full.timestamp() == (1, 1_700_000_000_123)
    assert (empty.key(), empty.value(), empty.headers()) == (None, None, None)
    assert empty.timestamp()[1] > 1_700_000_000_123


def test_a_key_goes_where_java_clients_put_it(stage: Stage) -> None:
    topic = stage.topic(5)
    keys = [f"session-{number}".encode() for number in range(20)]
    stage.producer().publish([Output(topic, key, b"", []) for key in keys], [], None)
    assert {record.key(): record.partition() for record in stage.read(topic)} == {
        key: partition_of(key, 5) for key in keys
    }


def test_an_open_transaction_is_hidden_and_holds_back_what_is_behind_it(stage: Stage) -> None:
    topic = stage.topic()
    stage.fill(out(topic, b"before"))
    reader = stage.log.reader([topic])
    seen: list[list[bytes]] = []

    def look(point: str) -> None:
        if point == "offsets_sent":
            stage.fill(out(topic, b"after"))
            seen.append([record.value() or b"" for record in reader.to_end(PATIENCE_S)])

    assert stage.producer().publish([out(topic, b"inside")], [], None, reach=look) == Success()
    # On Kafka the record may still be in the client at that point: then only the plain one is behind it.
    assert seen[0] in ([b"before"], [b"before", b"after"])
    stage.await_stable(topic)
    rest = [record.value() or b"" for record in reader.to_end(PATIENCE_S)]
    reader.close()
    assert sorted([*seen[0], *rest]) == [b"after", b"before", b"inside"]


def test_every_point_of_a_transaction_is_reached_in_order(stage: Stage) -> None:
    points: list[str] = []
    topic = stage.topic()
    assert stage.producer().publish([out(topic)], [], None, reach=points.append) == Success()
    assert points == ["begun", "produced", "offsets_sent", "committed"]


def test_something_is_done_while_a_transaction_is_waited_for_until_nothing_is_left_to_do(
    stage: Stage,
) -> None:
    topic, done = stage.topic(), []

    def while_waiting() -> bool | None:
        done.append(threading.current_thread())
        return None if len(done) == 3 else True

    producer = stage.producer()
    ended = threading.Event()
    reached: list[str] = []

    def reach(point: str) -> None:
        reached.append(point)
        if point == "offsets_sent":
            assert ended.wait(PATIENCE_S), "what is done meanwhile was not asked for"

    def until_the_third() -> bool | None:
        more = while_waiting()
        if more is None:
            assert "committed" not in reached
            ended.set()
        return more

    assert producer.publish([out(topic)], [], None, reach=reach, while_waiting=until_the_third) == Success()
    assert done == [threading.current_thread()] * 3
    assert reached == ["begun", "produced", "offsets_sent", "committed"]


def test_who_has_nothing_to_do_is_asked_once_after_all_outputs_are_handed_over(stage: Stage) -> None:
    points: list[str] = []
    waits = partial(points.append, "waiting")
    outcome = stage.producer().publish(
        [out(stage.topic())], [], None, reach=points.append, while_waiting=waits
    )
    assert outcome == Success()
    assert points == ["begun", "produced", "waiting", "offsets_sent", "committed"]


def test_what_is_raised_while_waiting_comes_out_once_the_transaction_has_ended(stage: Stage) -> None:
    topic, asked = stage.topic(), []

    def bug() -> bool:
        asked.append(1)
        if len(asked) > 1:
            raise ZeroDivisionError
        return True

    with pytest.raises(ZeroDivisionError):
        stage.producer().publish([out(topic, b"one")], [], None, while_waiting=bug)
    stage.await_stable(topic)
    assert [record.value() for record in stage.read(topic)] == [b"one"]


def test_a_transaction_of_another_life_is_not_begun(stage: Stage) -> None:
    topic = stage.topic()
    producer = stage.producer()
    life = producer.lives
    assert producer.publish([out(topic, b"one")], [], None, life=life) == Success()
    producer.start(PATIENCE_S)
    points: list[str] = []
    outcome = producer.publish([out(topic, b"never")], [], None, reach=points.append, life=life)
    assert (outcome, points) == (Unknown(reasons.RENEWED), [])
    assert producer.publish([out(topic, b"two")], [], None, life=producer.lives) == Success()
    assert [record.value() for record in stage.read(topic)] == [b"one", b"two"]


def test_an_aborted_record_is_never_seen_and_leaves_a_gap(stage: Stage) -> None:
    topic, small = stage.topic(), stage.topic(max_message_bytes="2000")
    producer = stage.producer()
    assert producer.publish([out(topic, b"one")], [], None) == Success()
    aborted = producer.publish([out(topic, b"never"), out(small, os.urandom(5_000))], [], None)
    assert isinstance(aborted, Aborted)
    assert producer.publish([out(topic, b"two")], [], None) == Success()
    assert [record.value() for record in stage.read(topic)] == [b"one", b"two"]

    stage.await_stable(topic)
    member = stage.member(stage.unique("group"), [topic])
    place = Partition(topic, 0)
    end = stage.admin.stable_ends([place], PATIENCE_S)[place]
    drive([member], lambda: member.ends.get(place) == end)
    assert member.values() == [b"one", b"two"]
    # The marker of the last commit is an offset that no reader is given: only the end event closes it.
    assert end > member.records[-1].offset() + 1


def test_outputs_and_offset_with_its_map_appear_together(stage: Stage) -> None:
    topic, group, longest = stage.topic(), stage.unique("group"), "x" * METADATA_CHARS_MAX
    place = Partition(stage.topic(), 0)
    member = stage.member(group, [place.topic])
    settle([member], 1)
    producer = stage.producer()
    assert member.consumer.committed([place], PATIENCE_S) == {place: None}
    outcome = producer.publish([out(topic)], [commit(place, 7, longest)], member.consumer.group())
    assert outcome == Success()
    assert member.consumer.committed([place], PATIENCE_S) == {place: Committed(7, longest)}
    assert producer.publish([], [commit(place, 8)], member.consumer.group()) == Success()
    assert member.consumer.committed([place], PATIENCE_S) == {place: Committed(8, "")}
    assert stage.admin.group_offsets(group, [place], PATIENCE_S) == {place: Committed(8, "")}


def test_a_map_over_its_limit_is_refused_before_anything_is_sent(stage: Stage) -> None:
    topic = stage.topic()
    place = Partition(topic, 0)
    member = stage.member(stage.unique("group"), [topic])
    settle([member], 1)
    producer = stage.producer()
    for metadata in ("x" * (METADATA_CHARS_MAX + 1), "\N{GRINNING FACE}" * 2_048, "a\0b"):
        with pytest.raises(ValueError, match="offset metadata"):
            producer.publish([out(topic)], [commit(place, 1, metadata)], member.consumer.group())
    with pytest.raises(ValueError, match="stamp"):
        producer.publish([out(topic)], [commit(place, 1)], None)
    assert stage.admin.watermarks([place], PATIENCE_S)[place] == Watermarks(0, 0)
    assert producer.publish([out(topic)], [commit(place, 1)], member.consumer.group()) == Success()


def test_committed_offsets_wait_for_an_open_transaction_and_fences_do_not(stage: Stage) -> None:
    topic, group = stage.topic(), stage.unique("group")
    place = Partition(topic, 0)
    member = stage.member(group, [topic])
    settle([member], 1)
    producer = stage.producer()
    producer.publish([], [commit(place, 3, "old")], member.consumer.group())
    seen: list[object] = []

    def look(point: str) -> None:
        if point == "offsets_sent":
            seen.append(stage.admin.group_offsets(group, [place], PATIENCE_S)[place])
            with pytest.raises(LogTimeout):
                member.consumer.committed([place], 0.4)

    outcome = producer.publish([], [commit(place, 4, "new")], member.consumer.group(), reach=look)
    assert (outcome, seen) == (Success(), [Committed(3, "old")])
    assert member.consumer.committed([place], PATIENCE_S)[place] == Committed(4, "new")


def test_a_second_producer_of_the_same_id_fences_the_first_and_ends_its_transaction(stage: Stage) -> None:
    topic, name = stage.topic(), stage.unique("txn")
    first = stage.producer(name)
    assert first.publish([out(topic, b"one")], [], None) == Success()

    def twin(point: str) -> None:
        if point == "produced":
            second = stage.producer(name)
            assert second.publish([out(topic, b"two")], [], None) == Success()

    outcome = first.publish([out(topic, b"never")], [], None, reach=twin)
    assert isinstance(outcome, Fenced)
    assert [record.value() for record in stage.read(topic)] == [b"one", b"two"]


def test_what_a_killed_process_left_open_ends_with_the_next_start(stage: Stage) -> None:
    topic, name = stage.topic(), stage.unique("txn")
    place = Partition(topic, 0)
    stage.fill(out(topic, b"before"))

    def die(point: str) -> None:
        if point == "offsets_sent":
            raise InterruptedError(point)

    with pytest.raises(InterruptedError):
        stage.producer(name).publish([out(topic, b"never")], [], None, reach=die)
    assert stage.producer(name).publish([out(topic, b"after")], [], None) == Success()
    assert [record.value() for record in stage.read(topic)] == [b"before", b"after"]
    high = stage.admin.watermarks([place], PATIENCE_S)[place].high
    assert stage.admin.stable_ends([place], PATIENCE_S)[place] == high


def test_offsets_of_an_older_generation_or_a_stranger_are_refused(stage: Stage) -> None:
    topic = stage.topic()
    place = Partition(topic, 0)
    member = stage.member(stage.unique("group"), [topic], "slot-00")
    settle([member], 1)
    producer = stage.producer()
    old = member.consumer.group()
    assert producer.publish([out(topic, b"one")], [commit(place, 1, "first")], old) == Success()

    other = stage.member(stage.unique("group"), [topic])
    settle([other], 1)
    empty = producer.publish([out(topic)], [commit(place, 9)], stamp_with(old, old.generation, ""))
    negative = producer.publish([out(topic)], [commit(place, 9)], stamp_with(old, -1, old.member_id))
    assert empty == negative == Aborted(reasons.STALE_MEMBER, {})
    assert member.consumer.committed([place], PATIENCE_S)[place] == Committed(1, "first")
    assert [record.value() for record in stage.read(topic)] == [b"one"]


def test_only_a_twin_fences_a_producer(stage: Stage) -> None:
    place = Partition(stage.topic(), 0)
    group, name = stage.unique("group"), stage.unique("txn")
    member = stage.member(group, [place.topic], "slot-00")
    settle([member], 1)
    first = stage.producer(name)
    assert first.publish([], [commit(place, 5, "map")], member.consumer.group()) == Success()
    assert not first.is_fenced(member.consumer.group())
    assert member.consumer.committed([place], PATIENCE_S)[place] == Committed(5, "map")
    second = stage.producer(name)
    assert first.is_fenced(member.consumer.group())
    assert second.publish([], [commit(place, 6, "map")], member.consumer.group()) == Success()
    assert not second.is_fenced(member.consumer.group())


def test_publishing_before_start_is_an_error(stage: Stage) -> None:
    with pytest.raises(LogError, match="before start"):
        stage.log.producer(stage.unique("txn")).publish([], [], None)
