"""Partitions that come and go, maps that cannot be trusted, deaths that count."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from schemas.lane import Lane
from stream.errors import LogTimeout
from stream.exactly_once.offset_map import OffsetMap, encode
from stream.log.base import OffsetCommit, Output, Partition, Unknown
from stream.log.memory.log import Fault
from tests.stream.worker.house import House, header


def test_a_running_call_is_adopted_when_its_partition_comes_straight_back() -> None:
    house = House()
    sources = house.put(2) + house.put(1, session="s")
    first = house.worker(auto=False).turn(4)
    assert first.runner.started == sources
    second = house.worker(1).turn(1)
    for _ in range(6):
        first.turn(1)
        second.turn(1)
    owner = first if Partition(house.work_topic(Lane.BATCH), 0) in first.share.ledgers else second
    assert owner is first
    assert first.runner.started == sources
    assert not first.runner.cancelled
    first.runner.end_all()
    first.turn(6)
    assert house.outputs_of() == {str(source): 1 for source in sources}


def test_an_answer_that_was_finished_between_revoke_and_assign_is_adopted() -> None:
    house = House()
    sources = house.put(2)
    worker = house.worker(auto=False).turn(4)
    place = Partition(house.work_topic(Lane.BATCH), 0)
    listener = worker.steps.assignment
    owned = list(worker.share.ledgers)
    listener.revoked(owned)
    worker.runner.end(sources[0])
    worker.steps.finishing.take(worker.runner.take())
    begin = listener.assigned(owned)
    worker.sockets.consumer.seek(place, begin[place])
    worker.turn(6)
    assert house.outputs_of() == {str(sources[0]): 1}
    assert worker.runner.started == sources


def test_an_answer_written_before_a_revoke_that_could_not_commit_is_adopted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House()
    sources = house.put(2)
    worker = house.worker(auto=False).turn(4)
    place = Partition(house.work_topic(Lane.BATCH), 0)
    listener = worker.steps.assignment
    owned = list(worker.share.ledgers)
    worker.runner.end(sources[0])
    worker.steps.finishing.take(worker.runner.take())
    with monkeypatch.context() as patched:
        patched.setattr(worker.steps.committer, "drain", lambda _deadline_s: False)
        listener.revoked(owned)
    begin = listener.assigned(owned)
    worker.sockets.consumer.seek(place, begin[place])
    worker.turn(6)
    assert house.outputs_of() == {str(sources[0]): 1}
    assert worker.runner.started == sources


def test_a_partition_that_goes_to_another_takes_its_calls_along() -> None:
    house = House()
    sources = house.put(2, partition=1)
    first = house.worker(auto=False).turn(4)
    second = house.worker(1)
    for _ in range(8):
        first.turn(1)
        second.turn(1)
    assert len(first.runner.cancelled) == 2
    assert house.outputs_of() == {str(source): 1 for source in sources}
    assert second.runner.started == sources


@pytest.mark.parametrize(("order", "cancelled"), [("serial", 1), ("session", 0)])
def test_a_run_is_adopted_after_another_owner_committed_unless_runs_have_an_order(
    order: str, cancelled: int
) -> None:
    house = House(order=order)
    sources = house.put(1, session="s") + house.put(1)
    worker = house.worker(auto=False).turn(4)
    owned = list(worker.share.ledgers)
    place = Partition(house.work_topic(Lane.BATCH), 0)
    worker.steps.assignment.revoked(owned)
    found = house.committed()
    assert found is not None
    house.commit_offset(found.base, encode(OffsetMap(found.base, found.hi, found.incomplete, 1)))
    begin = worker.steps.assignment.assigned(owned)
    worker.sockets.consumer.seek(place, begin[place])
    worker.turn(4)
    assert len(worker.runner.cancelled) == cancelled
    assert worker.runner.started == [*sources, *sources[:cancelled]]


def test_lost_partitions_are_never_committed() -> None:
    house = House()
    house.put(2)
    worker = house.worker(auto=False).turn(4)
    before = house.committed()
    worker.runner.end_all()
    worker.steps.finishing.take(worker.runner.take())
    worker.steps.assignment.lost(list(worker.share.ledgers))
    assert not len(worker.share.ready)
    assert house.committed() == before
    assert not house.results


@pytest.mark.parametrize(
    "metadata", ["v1:1:2:b:0::00000000:0{", "abc", "l" * 40, encode(OffsetMap(5, 9, (5, 7)))]
)
def test_a_map_that_cannot_be_trusted_quarantines_its_partition_and_the_others_flow(metadata: str) -> None:
    house = House()
    house.put(3)
    good = house.put(3, partition=1)
    house.commit_offset(0, metadata)
    worker = house.worker().turn(10)
    assert house.outputs_of() == {str(source): 1 for source in good}
    assert list(worker.share.quarantined) == [Partition(house.work_topic(Lane.BATCH), 0)]


def test_a_quarantined_partition_is_read_again_after_a_reset() -> None:
    house = House()
    sources = house.put(3)
    house.commit_offset(0, "abc")
    worker = house.worker().turn(10)
    place = Partition(house.work_topic(Lane.BATCH), 0)
    group = house.log._broker.group("headrace.worker.sim")
    group.committed[place] = group.committed[place]._replace(metadata="")
    house.clock.now_s += 11
    worker.turn(10)
    assert house.outputs_of() == {str(source): 1 for source in sources}
    assert not worker.share.quarantined


def test_a_newer_record_version_refuses_the_partition() -> None:
    house = House()
    plain = house.log.plain_producer()
    plain.send(Output(house.work_topic(Lane.BATCH), None, b"x", [("headrace-version", b"2")], 0))
    good = house.put(1, partition=1)
    worker = house.worker().turn(10)
    assert house.outputs_of() == {str(source): 1 for source in good}
    assert list(worker.share.quarantined) == [Partition(house.work_topic(Lane.BATCH), 0)]


def test_without_committed_offsets_nothing_is_dispatched() -> None:
    """Somebody's transaction on them stays open: `committed` times out, and the process ends."""
    house = House()
    house.put(2)
    other = house.log.consumer("headrace.worker.sim")
    other.subscribe([house.work_topic(Lane.BATCH)], Nothing())
    other.poll(1, 0)
    producer = house.log.producer("other")
    producer.start(1)
    house.log.inject("other", Fault.OPEN_UNKNOWN)
    held = [OffsetCommit(house.work_topic(Lane.BATCH), p, 1, "") for p in (0, 1)]
    assert isinstance(producer.publish([], held, other.group()), Unknown)
    other.close()
    worker = house.worker(clock_s=time.monotonic)
    with pytest.raises(LogTimeout):
        worker.turn(100)
    assert worker.runner.started == []


class Nothing:
    """A listener that reads from the start."""

    def assigned(self, partitions: Sequence[Partition]) -> dict[Partition, int]:
        return dict.fromkeys(partitions, 0)

    def revoked(self, partitions: Sequence[Partition]) -> None: ...
    def lost(self, partitions: Sequence[Partition]) -> None: ...


class TestPoison:
    """A record that kills its process."""

    def test_a_crash_counts_and_a_clean_stop_does_not(self) -> None:
        house = House()
        house.put(2)
        house.worker(auto=False).turn(4)
        found = house.committed()
        assert found is not None
        assert found.deaths == 1
        second = house.worker(auto=False).turn(4)
        found = house.committed()
        assert found is not None
        assert found.deaths == 2
        second.close()
        found = house.committed()
        assert found is not None
        assert found.deaths == 1

    def test_the_guilty_record_is_convicted_and_its_neighbours_are_answered(self) -> None:
        house = House()
        sources = house.put(6) + house.put(3, partition=1)
        poison = sources[2]
        lives = 0
        while True:
            lives += 1
            worker = house.worker(auto=False)
            for _ in range(60):
                worker.turn(1)
                if poison in [call.source for call in worker.runner.inside.values()]:
                    break  # the process dies
                worker.runner.end_all()
            else:
                break
            assert lives < 10
        outputs = house.outputs_of()
        assert outputs == {str(source): 1 for source in sources}
        assert [header(letter, "headrace-source") for letter in house.dead_letters] == [str(poison)]
        assert header(house.dead_letters[0], "headrace-error-class") == "poison"
        assert header(house.dead_letters[0], "headrace-attempts") == "3"
        assert lives == 4

    def test_single_file_means_one_call_at_a_time_over_all_partitions(self) -> None:
        house = House()
        sources = house.put(3) + house.put(3, partition=1)
        for _ in range(2):
            house.worker(auto=False).turn(4)
        third = house.worker(auto=False)
        for _ in range(40):
            third.turn(1)
            assert len(third.runner.inside) <= 1
            for call in list(third.runner.inside.values()):
                named = [house.committed(partition=p) for p in (0, 1)]
                trying = [found.trying for found in named if found is not None and found.trying is not None]
                assert len(trying) == 1, "a second one named would be blamed for the death of the first"
                third.runner.end(call.source)
        assert house.outputs_of() == {str(source): 1 for source in sources}

    def test_after_the_suspects_all_run_together_again(self) -> None:
        house = House(slots=2)
        house.put(2)
        for _ in range(2):
            house.worker(auto=False).turn(4)
        third = house.worker(auto=True).turn(20)
        third.runner.auto = False
        house.put(2)
        third.turn(6)
        assert len(third.runner.inside) == 2
