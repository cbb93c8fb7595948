"""Ends that no record is to blame for count as no death; all others do."""

from __future__ import annotations

import pytest

from stream.errors import LedgerBroken, LogError, LogFenced, LogTimeout
from stream.worker.dependencies import WorkerDependencies
from stream.worker.role import serve
from tests.stream.worker.fake_runner import FakeRunner
from tests.stream.worker.house import FAST, House, header
from workers.errors import EngineBroken, EngineStartError


class Ending(FakeRunner):
    """Ends its process by this error as soon as a call runs."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(auto=False)
        self.error = error

    def check(self) -> None:
        if self.inside:
            raise self.error


def lives(house: House, runner: Ending) -> None:
    """A process from its start to its end by the runner's error."""
    parts = WorkerDependencies(
        log=house.log, runner=runner, clock_s=house.clock, now_ms=house.clock.now_ms, rules=FAST
    )
    with pytest.raises(type(runner.error)):
        serve(house.settings, house.endpoint, 0, "worker-00", parts)


def deaths(house: House) -> int:
    found = house.committed()
    assert found is not None
    return found.deaths


@pytest.mark.parametrize("error", [EngineBroken("no"), LogError("a topic refuses its records")])
def test_an_end_that_no_record_is_to_blame_for_counts_as_no_death(error: BaseException) -> None:
    house = House()
    sources = house.put(3)
    for _ in range(4):
        lives(house, Ending(error))
        assert deaths(house) == 0
    house.worker().turn(40)
    assert house.outputs_of() == {str(source): 1 for source in sources}
    assert not house.dead_letters


@pytest.mark.parametrize(
    "error",
    [
        ZeroDivisionError("a bug"),
        LedgerBroken("no"),
        LogTimeout("no"),
        LogFenced("no"),
        EngineStartError("no"),
    ],
)
def test_an_end_that_a_record_may_have_brought_about_counts(error: BaseException) -> None:
    house = House()
    house.put(3)
    lives(house, Ending(error))
    assert deaths(house) == 1


def test_what_ran_alone_when_the_engine_broke_is_not_convicted() -> None:
    house = House()
    sources = house.put(3)
    for _ in range(2):
        house.worker(auto=False).turn(4)
    lives(house, Ending(EngineBroken("no")))
    found = house.committed()
    assert found is not None
    assert (found.deaths, found.trying) == (2, None)
    house.worker().turn(60)
    assert house.outputs_of() == {str(source): 1 for source in sources}
    assert not house.dead_letters


def test_a_predecessors_victim_stays_convicted() -> None:
    house = House()
    house.put(3)
    for _ in range(3):
        house.worker(auto=False).turn(6)
    trying = house.committed()
    assert trying is not None
    assert trying.trying == 0

    class AtOnce(Ending):
        def check(self) -> None:
            if deaths(house) > 3:
                raise self.error

    lives(house, AtOnce(EngineBroken("no")))
    house.worker().turn(60)
    assert [header(each, "headrace-source") for each in house.dead_letters] == ["headrace.requests/0/0"]
