"""A record that a map names is convicted by what its process has written down of it, not by the map alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.source import Source
from tests.stream.worker.house import House, Worker, header
from tests.stream.worker.life import Registry


class Killed(BaseException):
    """As SIGKILL: nothing is said any more."""


def poisoned(house: House) -> list[str]:
    found = house.dead_letters
    return [
        header(each, "headrace-source") for each in found if header(each, "headrace-error-class") == "poison"
    ]


def named(house: House) -> int | None:
    found = house.committed()
    return None if found is None else found.trying


def until(worker: Worker, house: House, offset: int | None) -> None:
    """Turn until the map names this offset."""
    for _ in range(100):
        if named(house) == offset:
            return
        worker.turn(1)
    raise AssertionError(f"{offset} was never named")


@pytest.fixture
def house(tmp_path: Path) -> House:
    """Two processes have died: the third goes single file."""
    house = House(journals=tmp_path)
    house.put(4)
    for _ in range(2):
        house.worker(auto=False).turn(4)
    return house


def kill_at(house: House, point: str, nth: int) -> None:
    """A life that ends when a transaction of single file reaches `point` for the nth time; calls end at once."""
    seen = 0

    def reach(name: str) -> None:
        nonlocal seen
        seen += name == point
        if seen == nth:
            raise Killed

    worker = house.worker(reach=reach)
    with pytest.raises(Killed):
        worker.turn(100)


@pytest.mark.parametrize("nth", [1, 2, 3, 4])
@pytest.mark.parametrize("point", ["begun", "offsets_sent", "committed", "done"])
def test_a_death_between_two_runs_convicts_nobody(house: House, point: str, nth: int) -> None:
    kill_at(house, point, nth)
    house.worker().turn(60)
    assert house.outputs_of() == {f"headrace.requests/0/{offset}": 1 for offset in range(4)}
    assert not poisoned(house)


def test_a_death_while_it_ran_alone_convicts_it_and_nobody_else(house: House) -> None:
    worker = house.worker(auto=False)
    until(worker, house, 0)
    assert worker.runner.inside
    house.worker().turn(60)
    assert poisoned(house) == ["headrace.requests/0/0"]


def test_the_journal_of_another_slot_is_no_evidence(house: House, tmp_path: Path) -> None:
    worker = house.worker(auto=False)
    until(worker, house, 0)
    worker.sockets.consumer.kill()  # type: ignore[attr-defined]
    (tmp_path / "worker-00.alone").rename(tmp_path / "worker-01.alone")
    other = tmp_path / "worker-01.alone"
    other.write_text(other.read_text().replace(" 3 ", " 2 "))
    house.worker().turn(60)
    assert poisoned(house) == ["headrace.requests/0/0"]


def test_a_lost_journal_changes_nothing(house: House, tmp_path: Path) -> None:
    kill_at(house, "committed", 2)  # named, and not started
    for file in tmp_path.iterdir():
        file.unlink()
    trying = named(house)
    house.worker().turn(60)
    assert len(poisoned(house)) == (trying is not None)


def test_what_no_dead_process_had_started_is_no_suspect(tmp_path: Path) -> None:
    """Whoever kills the supervisor kills its workers: only what ran then goes single file."""
    house = House(slots=2, journals=tmp_path)
    sources = house.put(12)
    for _ in range(2):
        house.worker(auto=False).turn(4)
    worker = house.worker(auto=False)
    until(worker, house, 0)
    worker.runner.end_all()
    until(worker, house, 1)
    worker.runner.end_all()
    worker.turn(4)
    assert len(worker.runner.inside) == 2
    worker.runner.auto = True
    worker.runner.end_all()
    worker.turn(40)
    assert house.outputs_of() == {str(source): 1 for source in sources}


def test_records_that_had_not_started_run_beside_each_other_in_single_file(tmp_path: Path) -> None:
    house = House(slots=6, journals=tmp_path)
    first = house.put(1)
    for _ in range(2):
        house.worker(auto=False).turn(4)
    house.put(5)
    worker = house.worker(auto=False)
    until(worker, house, 0)
    assert [call.source for call in worker.runner.inside.values()] == first
    worker.runner.end_all()
    worker.turn(8)
    assert named(house) is None
    assert len(worker.runner.inside) == 5


def test_a_suspect_waits_until_those_beside_it_have_ended(tmp_path: Path) -> None:
    """Nothing runs beside what is named."""
    house = House(slots=6, journals=tmp_path)
    for _ in range(2):
        house.put(1, partition=1)
        house.worker(auto=False).turn(4)
    house.put(2)
    worker = house.worker(auto=False)
    inside: list[list[Source]] = []
    for _ in range(30):
        worker.turn(1)
        inside.append([call.source for call in worker.runner.inside.values() if call.named])
        alone = [call for call in worker.runner.inside.values() if call.named]
        assert not alone or len(worker.runner.inside) == 1
        worker.runner.end_all()
    assert any(inside)
    assert house.outputs_of().total() == 4


def test_a_record_that_was_named_and_had_to_wait_for_the_registry_is_acquitted(tmp_path: Path) -> None:
    """It dies before a commit takes the name out of the map."""
    house = House(journals=tmp_path)
    house.put(1, format="registry", value=b"\0\0\0\0\7payload")
    registry = Registry()
    registry.away = True
    for _ in range(2):
        house.worker(auto=False, registry=registry).turn(4)
    (tmp_path / "worker-00.alone").unlink()  # else it is known not to have started, and no suspect

    def reach(_point: str) -> None:
        if named(house) == 0 and worker.steps.hand_over.stalled:
            raise Killed

    worker = house.worker(registry=registry, reach=reach)
    with pytest.raises(Killed):
        worker.turn(40)
    assert named(house) == 0
    registry.away = False
    house.worker(registry=registry).turn(40)
    assert poisoned(house) == []
    assert [header(each, "headrace-error-class") for each in house.dead_letters] == ["unreadable"]
