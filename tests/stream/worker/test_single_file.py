"""Single file: who is named, who is convicted, and who is not."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.errors import RegistryUnavailable
from schemas.lane import Lane
from schemas.source import Source
from stream.config.settings import Limits
from stream.exactly_once.offset_map import OffsetMap
from stream.log.base import Outcome, Output
from stream.log.memory.log import Fault
from tests.stream.worker.house import House, Worker, header


def committed(house: House, partition: int = 0) -> OffsetMap:
    found = house.committed(partition=partition)
    assert found is not None
    return found


def poisoned(house: House) -> list[str | None]:
    return [
        header(letter, "headrace-source")
        for letter in house.dead_letters
        if header(letter, "headrace-error-class") == "poison"
    ]


def test_a_session_that_was_lost_is_no_death_of_a_process_that_lives() -> None:
    house = House()
    sources = house.put(3)
    worker = house.worker(auto=False)
    for _ in range(4):
        worker.turn(6)
        assert committed(house).deaths == 1
        worker.sockets.consumer.lose()  # type: ignore[attr-defined]
    worker.turn(6).runner.auto = True
    worker.runner.end_all()
    worker.turn(20)
    assert house.outputs_of() == {str(source): 1 for source in sources}
    assert not house.dead_letters


def test_what_runs_alone_here_is_not_convicted_by_a_final_commit_that_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House()
    house.put(3)
    for _ in range(2):
        house.worker(auto=False).turn(4)
    worker = house.worker(auto=False).turn(6)
    assert committed(house).trying == 0
    owned = list(worker.share.ledgers)
    with monkeypatch.context() as patch:
        patch.setattr(worker.steps.committer, "drain", lambda _deadline_s: False)
        worker.steps.assignment.revoked(owned)
    for place, begin in worker.steps.assignment.assigned(owned).items():
        worker.sockets.consumer.seek(place, begin)
    worker.turn(10)
    assert committed(house).deaths == 3
    assert not house.dead_letters


def test_a_predecessors_victim_is_still_convicted_after_a_lost_session() -> None:
    house = House()
    killer = house.put(1)[0]
    for _ in range(3):
        house.worker(auto=False).turn(6)
    worker = house.worker(auto=False)
    worker.turn(1, step_s=0)
    worker.sockets.consumer.lose()  # type: ignore[attr-defined]
    worker.turn(20)
    assert poisoned(house) == [str(killer)]


def test_a_convicted_record_behind_a_pause_does_not_stop_its_partition() -> None:
    """Its session stands before it, and the partition is paused one record before it comes by."""
    house = House(limits=Limits(open_records_max=24), order="serial")
    house.put(23, session="s")
    killer = house.put(1)[0]
    house.put(5)
    for _life in range(6):
        worker = house.worker(auto=False)
        poll_one_by_one(worker)
        if not runs_until(worker, killer):
            break
    assert sum(house.outputs_of().values()) == 29
    assert poisoned(house) == [str(killer)]


def poll_one_by_one(worker: Worker) -> None:
    poll = worker.sockets.consumer.poll
    worker.sockets.consumer.poll = lambda _records, wait_s: poll(1, wait_s)  # type: ignore[method-assign, assignment]


def runs_until(worker: Worker, killer: Any) -> bool:
    """Whether `killer` came to run; all others end."""
    for _ in range(300):
        worker.turn(1)
        if killer in [call.source for call in worker.runner.inside.values()]:
            return True
        worker.runner.end_all()
    return False


def test_a_record_that_waits_for_the_registry_is_not_named_beside_the_one_that_runs() -> None:
    house = House()
    house.put(1)
    killer = house.put(1, partition=1)[0]
    for _ in range(2):
        house.worker(auto=False).turn(4)
    worker = house.worker(auto=False)
    without_registry(worker)
    while not worker.runner.inside:
        worker.turn(1)
    assert [committed(house, place).trying for place in (0, 1)] == [None, 0]
    worker = house.worker(auto=False).turn(30)
    for _ in range(10):
        worker.runner.end_all()
        worker.turn(3)
    assert poisoned(house) == [str(killer)]


def without_registry(worker: Worker) -> None:
    """The first record cannot be decoded here."""
    real = worker.steps.hand_over._decoder

    class Decoder:
        def decode(self, value: bytes, format_: str) -> Any:
            if b"r-0" in value:
                raise RegistryUnavailable("away")
            return real.decode(value, format_)

    worker.steps.hand_over._decoder = Decoder()  # type: ignore[assignment]


def through_aborts(worker: Worker, aborts: int, log: pytest.LogCaptureFixture) -> None:
    """Until so many transactions were aborted: the worker stands in its back-off then."""
    for _ in range(1_000):
        if sum("was aborted" in record.message for record in log.records) == aborts:
            return
        worker.turn(1, step_s=0.01)
    raise AssertionError("they did not come")


@pytest.mark.parametrize("aborts", [2, 3, 4])
def test_aborts_before_an_orderly_revoke_convict_nobody(
    aborts: int, caplog: pytest.LogCaptureFixture
) -> None:
    house = House()
    house.put(1, partition=1)
    for _ in range(2):
        house.worker(auto=False).turn(4)
    first = house.worker(auto=False).turn(6)
    house.log.inject("headrace.worker.sim.00", *[Fault.ABORTED] * aborts)
    house.log.plain_producer().send(Output(house.work_topic(Lane.BATCH), None, b"{}", [], 0))
    through_aborts(first, aborts, caplog)
    second = house.worker(slot=1, auto=False)
    for _ in range(40):
        first.turn(1)
        second.turn(1)
    assert not poisoned(house)


@pytest.mark.parametrize("aborts", [2, 3, 4])
def test_aborts_before_a_clean_stop_leave_no_death(aborts: int, caplog: pytest.LogCaptureFixture) -> None:
    house = House()
    sources = house.put(3)
    worker = house.worker(auto=False).turn(6)
    house.log.inject("headrace.worker.sim.00", *[Fault.ABORTED] * aborts)
    worker.runner.end_all()
    through_aborts(worker, aborts, caplog)
    worker.close()
    assert committed(house).deaths == 0
    assert house.outputs_of() == {str(source): 1 for source in sources}


@pytest.mark.parametrize("deaths_max", [1, 2, 3])
def test_a_record_of_a_newer_version_convicts_nobody(deaths_max: int) -> None:
    """Its partition is set aside, and what ran there alone has killed nobody."""
    house = House(poison_deaths_max=deaths_max)
    house.put(1)
    for _ in range(deaths_max - 1):
        house.worker(auto=False).turn(4)
    worker = house.worker(auto=False).turn(6)
    assert committed(house).trying is not None
    newer = Output(house.work_topic(Lane.BATCH), None, b"{}", [("headrace-version", b"99")], 0)
    house.log.plain_producer().send(newer)
    worker.turn(3)
    assert worker.share.quarantined
    worker.close()
    assert committed(house).trying is None
    assert committed(house).deaths == deaths_max - 1


@pytest.mark.parametrize("order", ["session", "serial"])
def test_a_record_is_named_when_the_elders_of_its_session_are_committed(order: str) -> None:
    """Also where calls of a session run at once: a younger one's answer would wait for an elder that kills."""
    house = House(order=order, slots=8)
    sources = [source for _ in range(4) for session in ("a", "b") for source in house.put(1, session=session)]
    for _ in range(2):
        house.worker(auto=False).turn(4)
    worker = house.worker(auto=False)
    named = []
    for _ in range(120):
        worker.turn(1)
        for call in worker.runner.inside.values():
            assert call.named
            elders = sources[call.source.offset % 2 : call.source.offset : 2]
            assert {str(source) for source in elders} <= house.outputs_of().keys()
            named.append(call.source)
        worker.runner.end_all()
    assert named == sources
    assert house.outputs_of() == {str(source): 1 for source in sources}


def test_a_killer_in_the_middle_of_a_session_costs_its_neighbours_nothing() -> None:
    house = House(slots=8)
    sources = house.put(6, session="s")
    killer = sources[2]
    for _life in range(8):
        worker = house.worker(auto=False)
        if not runs_until(worker, killer):
            break
    assert poisoned(house) == [str(killer)]
    assert house.outputs_of() == {str(source): 1 for source in sources}
    told = [Source.parse(header(record, "headrace-source")) for record in house.usage]
    assert told == sources


def test_records_that_wait_for_a_registry_are_not_named_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House()
    house.put(200)
    for _ in range(2):
        house.worker(auto=False).turn(4)
    worker = house.worker(auto=False)

    def away(*_: object) -> None:
        raise RegistryUnavailable("away")

    monkeypatch.setattr(worker.steps.hand_over._decoder, "decode", away)
    publish, times = worker.sockets.producer.publish, []

    def counted(*what: Any, **names: Any) -> Outcome:
        times.append(house.clock.now_s)
        return publish(*what, **names)

    monkeypatch.setattr(worker.sockets.producer, "publish", counted)
    worker.turn(400, step_s=0.05)
    assert len(times) <= 200  # in 20 s: a few in each half second, whatever waits
