"""While a transaction is under way the engine is kept busy, and nothing else happens."""

from __future__ import annotations

import time

import pytest

from tests.stream.worker.house import House, Worker

PATIENCE_S = 60.0


class Slow:
    """A transaction in whose middle all calls end, and that goes on only once the engine has got `starts` calls."""

    def __init__(self) -> None:
        self.worker: Worker | None = None
        self.starts = 0
        self.kept_busy = False

    def __call__(self, point: str) -> None:
        if point == "offsets_sent" and self.worker is not None:
            worker, self.worker = self.worker, None
            worker.runner.end_all()
            limit_s = time.monotonic() + PATIENCE_S
            while len(worker.runner.started) < self.starts and time.monotonic() < limit_s:
                time.sleep(0.001)
            self.kept_busy = len(worker.runner.started) >= self.starts


@pytest.mark.parametrize("session", [None, "one"])
def test_slots_that_become_free_are_filled_while_a_transaction_is_under_way(session: str | None) -> None:
    slots = 1 if session else 4
    house = House(slots=slots, order="serial")
    slow = Slow()
    worker = house.worker(auto=False, reach=slow).turn(5)
    sources = house.put(3 * slots, session=session)
    worker.turn(3, step_s=0)
    worker.runner.end_all()
    worker.turn(1, step_s=0.2)
    assert worker.runner.started == sources[: 2 * slots]
    slow.worker, slow.starts = worker, 3 * slots
    worker.turn(1)
    assert slow.kept_busy
    assert len(house.results) == slots, "what ended meanwhile is not part of it"
    for _ in range(3):
        worker.runner.end_all()
        worker.turn(5)
    assert worker.runner.started == sources
    assert house.outputs_of() == {str(source): 1 for source in sources}


def test_a_stop_starts_nothing_while_its_last_transaction_is_under_way() -> None:
    house = House(slots=2)
    worker = house.worker(auto=False).turn(5)
    sources = house.put(6)
    worker.turn(3, step_s=0)
    worker.runner.end_all()
    worker.close()
    assert worker.runner.started == sources[:2]
    assert house.outputs_of() == {str(source): 1 for source in sources[:2]}


def test_what_the_transaction_raises_ends_the_worker() -> None:
    def broken(point: str) -> None:
        if point == "produced" and worker.runner.started:
            raise RuntimeError("a bug")

    house = House(slots=2)
    worker = house.worker(auto=False, reach=broken).turn(5)
    house.put(6)
    worker.turn(3, step_s=0)
    worker.runner.end_all()
    with pytest.raises(RuntimeError, match="a bug"):
        worker.turn(5)
