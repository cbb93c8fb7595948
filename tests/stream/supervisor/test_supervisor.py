"""The supervisor's loop over processes that exist only here, with a clock of the test's own."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from stream.errors import BrokerError
from stream.metrics.base import NoMetrics
from stream.metrics.names import MetricName
from stream.processes import Identity
from stream.supervisor.process import Seen
from stream.supervisor.restart import RestartPolicy
from stream.supervisor.supervisor import Supervisor, Unit

ALIVE = Seen(None, "running", "http://m")


class Scripted:
    """A process that a test moves from state to state."""

    def __init__(self, name: str = "worker-sim-00", role: str = "worker", *, obeys: bool = True) -> None:
        self.role, self.name, self.seen = role, name, Seen(None)
        self.launches, self.calls = 0, list[str]()
        self._obeys = obeys
        self.error: Exception | None = None
        self.blind: Exception | None = None
        self.undying: Exception | None = None

    def launch(self) -> Identity:
        if self.error is not None:
            raise self.error
        self.launches += 1
        self.seen = Seen(None)
        return Identity(1000 + self.launches, 1.0)

    def look(self) -> Seen:
        if self.blind is not None:
            raise self.blind
        return self.seen

    def terminate(self) -> None:
        self.calls.append("terminate")
        if self._obeys:
            self.seen = Seen(0)

    def kill(self) -> None:
        self.calls.append("kill")
        if self.undying is not None:
            raise self.undying
        self.seen = Seen(-9)


class Counts(NoMetrics):
    def __init__(self) -> None:
        self.restarts: list[str] = []

    def count(self, name: MetricName, amount: float = 1, **labels: str) -> None:
        assert name == "headrace_restarts_total"
        self.restarts.append(labels["role"])


class World:
    """A supervisor, its clock and everything it wrote."""

    def __init__(self, *processes: Scripted, policy: RestartPolicy | None = None) -> None:
        self.now_s = 0.0
        self.written: list[list[tuple[str, str]]] = []
        self.metrics = Counts()
        self.supervisor = Supervisor(
            self.metrics, self._write, policy=policy, clock_s=lambda: self.now_s, sleep=self._sleep
        )
        self.supervisor.add(processes)

    def _write(self, units: Sequence[Unit]) -> None:
        entries = [entry for unit in units if (entry := unit.entry()) is not None]
        self.written.append([(entry.name, entry.state) for entry in entries])

    def _sleep(self, seconds: float) -> None:
        self.now_s += seconds

    def step(self, seconds: float = 0) -> None:
        self.now_s += seconds
        self.supervisor.step()

    @property
    def unit(self) -> Unit:
        return self.supervisor.units[0]


def running(process: Scripted, policy: RestartPolicy | None = None) -> World:
    world = World(process, policy=policy)
    world.step()
    process.seen = ALIVE
    world.step()
    return world


def test_a_process_is_written_down_the_moment_it_exists() -> None:
    world = World(Scripted("a"), Scripted("b"))
    world.step()
    assert world.written[0] == [("a", "starting")]
    assert world.written[1] == [("a", "starting"), ("b", "starting")]


def test_all_run_only_when_each_says_so() -> None:
    one, two = Scripted("a"), Scripted("b")
    world = World(one, two)
    world.step()
    one.seen = ALIVE
    world.step()
    assert not world.supervisor.all_running()
    two.seen = ALIVE
    world.step()
    assert world.supervisor.all_running()


def test_nothing_to_run_is_not_running() -> None:
    assert not World().supervisor.all_running()


def test_a_dead_process_is_launched_again_in_the_next_step() -> None:
    process = Scripted()
    world = running(process)
    process.seen = Seen(-9)
    world.step()
    assert world.unit.life.state == "restarting"
    assert world.unit.metrics_url is None
    world.step()
    assert process.launches == 2
    assert world.metrics.restarts == ["worker"]


def test_a_process_that_keeps_dying_is_launched_less_and_less_often() -> None:
    process = Scripted()
    world = running(process, RestartPolicy(backoff_s=1, backoff_max_s=8))
    for _ in range(600):
        process.seen = Seen(1)
        world.step(0.1)
    assert process.launches < 15


def test_a_fenced_process_is_not_launched_again() -> None:
    process = Scripted()
    world = running(process)
    process.seen = Seen(4, reason="a twin")
    for _ in range(100):
        world.step(60)
    assert process.launches == 1
    assert world.written[-1] == [("worker-sim-00", "failed")]


def test_a_process_that_stays_starting_too_long_is_killed_and_started_again() -> None:
    process = Scripted()
    world = World(process, policy=RestartPolicy(start_timeout_s=10))
    world.step()
    world.step(11)
    assert process.calls == ["kill"]
    world.step()
    world.step()
    assert process.launches == 2


def test_a_process_that_can_not_be_started_at_all_has_failed_with_the_reason() -> None:
    process = Scripted("broker", "broker")
    process.error = BrokerError("no jars")
    world = World(process)
    world.step()
    assert [unit.life.reason for unit in world.supervisor.failed()] == ["no jars"]


def test_a_process_that_ran_once_is_tried_again_when_it_cannot_be_started() -> None:
    process = Scripted("broker", "broker")
    world = running(process)
    process.seen, process.error = Seen(1), BrokerError("locked")
    for _ in range(3):
        world.step(1)
    assert world.unit.life.state == "restarting"
    process.error = None
    world.step(60)
    assert process.launches == 2


def test_what_obeys_is_asked_and_forgotten() -> None:
    process = Scripted()
    world = running(process)
    world.supervisor.end(bool, grace_s=5)
    assert process.calls[0] == "terminate"
    assert ("worker-sim-00", "draining") in [entry for entries in world.written for entry in entries]
    assert world.written[-1] == []
    assert world.now_s == 0


def test_what_does_not_obey_is_killed_after_its_grace_and_not_before() -> None:
    process = Scripted(obeys=False)
    world = running(process)
    world.supervisor.end(bool, grace_s=5)
    assert process.calls == ["terminate", "kill"]
    assert 5 <= world.now_s < 6


def test_what_still_starts_has_nothing_to_finish_and_is_killed_soon() -> None:
    process = Scripted(obeys=False)
    world = World(process)
    world.step()
    world.supervisor.end(bool, grace_s=60)
    assert process.calls == ["terminate", "kill"]
    assert 5 <= world.now_s < 6


def test_one_that_still_starts_does_not_shorten_the_grace_of_one_that_runs() -> None:
    loading, running_one = Scripted("a", obeys=False), Scripted("b", obeys=False)
    world = World(loading, running_one)
    world.step()
    running_one.seen = ALIVE
    world.step()
    world.supervisor.end(bool, grace_s=60)
    assert 60 <= world.now_s < 61


def test_only_the_chosen_roles_end() -> None:
    broker, worker = Scripted("broker", "broker"), Scripted()
    world = World(broker, worker)
    world.step()
    world.supervisor.end(lambda role: role != "broker", grace_s=5)
    assert [unit.process.name for unit in world.supervisor.units] == ["broker"]
    assert broker.calls == []


def test_one_that_cannot_be_looked_at_is_killed_all_the_same_and_so_are_the_others() -> None:
    blind, other = Scripted("a"), Scripted("b")
    world = World(blind, other)
    world.step()
    blind.blind = FileNotFoundError("its log")
    with pytest.raises(FileNotFoundError):
        world.supervisor.kill()
    assert (blind.calls, other.calls) == (["kill"], ["kill"])


def test_one_that_cannot_be_killed_keeps_no_other_alive_and_stays_known() -> None:
    undying, other = Scripted("a"), Scripted("b")
    world = World(undying, other)
    world.step()
    undying.undying = PermissionError("not mine")
    with pytest.raises(PermissionError):
        world.supervisor.kill()
    assert other.calls == ["kill"]
    assert world.written[-1] == [("a", "starting")]


def test_a_phase_is_told_when_it_begins_and_again_while_it_lasts(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    process = Scripted()
    world = World(process)
    world.step()
    process.seen = Seen(None, phase="loading weights")
    for _ in range(25):
        world.step(1)
    process.seen = ALIVE
    world.step(1)
    told = [record.getMessage() for record in caplog.records if "started" not in record.getMessage()]
    assert told == [
        "worker-sim-00: loading weights",
        "worker-sim-00: still loading weights, 10 s so far",
        "worker-sim-00: still loading weights, 20 s so far",
        "worker-sim-00 is running after 26.0 s",
    ]


def test_a_start_that_is_refused_for_good_is_not_tried_again() -> None:
    process = Scripted()
    world = World(process)
    world.step()
    process.seen = Seen(1, reason="no such model", lasting=True)
    for _ in range(10):
        world.step(60)
    assert process.launches == 1
    assert [unit.life.reason for unit in world.supervisor.failed()] == ["exit code 1: no such model"]
