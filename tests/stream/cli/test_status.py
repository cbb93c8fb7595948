"""What is left to do, how fast it goes, and who does it."""

from __future__ import annotations

import argparse
import json
import os
import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from cache.shard_map import encode_map, uniform
from schemas.lane import LANES, Lane
from schemas.source import Source
from stream.cli import status
from stream.cli.overview.dead_letters import count_dead_letters
from stream.cli.overview.map_versions import map_versions
from stream.cli.overview.report import processes, status_report
from stream.cli.overview.running import running_now
from stream.client import installation
from stream.client.deadline import Deadline
from stream.client.eta import LaneEta, duration
from stream.client.heartbeats import last_beats
from stream.client.installation import Installation
from stream.client.lanes import Key, lane_works, unrouted
from stream.exactly_once.offset_map import OffsetMap
from stream.log.base import Log, Output, Partition
from tests.stream.cli.conftest import Installed, Run
from tests.stream.client.in_memory import InMemory

BATCH = Key("sim", Lane.BATCH)


@pytest.fixture
def here() -> InMemory:
    return InMemory()


def works(here: InMemory, between: Callable[[float], None] = lambda seconds: None):  # type: ignore[no-untyped-def]
    clock = iter((100.0, 104.0))
    topics = here.log.admin().topics(5)
    return lane_works(
        here.log.admin(), here.settings, topics, 4.0, clock_s=lambda: next(clock), sleep=between
    )


def test_lag_is_what_is_not_done_above_and_below_the_base(here: InMemory) -> None:
    for number in range(10):
        here.release(Source("in", 0, number))
    here.done(here.worker_group, Partition(here.work, 0), OffsetMap(2, 6, (2, 4)))
    assert works(here)[BATCH].lag == 5


def test_the_rate_is_counted_between_two_looks(here: InMemory) -> None:
    for number in range(10):
        here.release(Source("in", 0, number))

    def work_on(_seconds: float) -> None:
        here.done(here.worker_group, Partition(here.work, 0), OffsetMap.empty(8))

    work = works(here, work_on)[BATCH]
    assert (work.lag, work.pace.rate_per_s) == (2, 2.0)


def test_where_nothing_is_left_nobody_waits(here: InMemory) -> None:
    def never(_seconds: float) -> None:
        raise AssertionError("waited")

    found = works(here, never)
    assert {key: work.lag for key, work in found.items()} == {Key("sim", lane): 0 for lane in LANES}


def test_records_without_a_lane_yet_are_counted_apart(here: InMemory) -> None:
    for partition in range(3):
        here.request("x", partition)
    assert unrouted(here.log.admin(), here.settings, here.log.admin().topics(5)) == 3


def test_dead_letters_are_counted_without_transaction_markers(here: InMemory) -> None:
    topics = here.log.admin().topics(5)
    assert count_dead_letters(here.log, here.settings, topics) == (0, 0)
    for number in range(3):
        here.bury(Source("in", 0, number), b"{}")
    with closing(here.log.producer("t")) as producer:
        producer.start(5)
        producer.publish([Output(here.settings.outputs.dead_letters, None, b"", [], 0)], [], None)
    assert count_dead_letters(here.log, here.settings, topics) == (4, 3)


def test_without_a_published_map_the_uniform_one_counts(here: InMemory) -> None:
    topics = here.log.admin().topics(5)
    assert map_versions(here.log, here.settings, topics) == {"sim": 1}
    with closing(here.log.plain_producer()) as producer:
        producer.send(
            Output(here.settings.own_topic("shards"), b"sim", encode_map(uniform(1, version=4)), [])
        )
        producer.flush(5)
    assert map_versions(here.log, here.settings, topics) == {"sim": 4}


def test_the_time_left_is_a_range_around_lag_over_rate() -> None:
    low, high = LaneEta(100, 10).eta_s(1000) or (0, 0)
    assert low < 100 < high
    assert LaneEta(10_000, 10).eta_s(1000) == pytest.approx((1 / 1.1, 1 / 0.9))
    assert LaneEta(0, 10).eta_s(1000) is None
    assert LaneEta(0, 10).eta_s(0) == (0, 0)
    few = LaneEta(1, 10).eta_s(10) or (0, 0)
    assert few[1] == pytest.approx(1000)


@pytest.mark.parametrize(
    ("seconds", "told"), [(0, "0 s"), (59.4, "59 s"), (60, "1 min"), (5400, "1.5 h"), (864_000, "10 d")]
)
def test_durations_are_told_in_the_unit_that_suits(seconds: float, told: str) -> None:
    assert duration(seconds) == told


def test_running_is_what_the_workers_that_beat_told_last(here: InMemory) -> None:
    source = Source("in", 0, 0)
    here.beat("worker-sim-00", [source] * 9)
    here.beat("worker-sim-00", [source] * 3)
    here.beat("worker-sim-01", [source] * 2)
    here.beat("worker-sim-02", [source], age_ms=60_000)
    here.put(here.settings.own_topic("workers"), b"not a heartbeat")
    beats = last_beats(here.log, here.settings, here.log.admin().topics(5))
    assert running_now(beats)[BATCH] == 5


def test_a_process_that_is_not_there_any_more_is_told() -> None:
    me = {"role": "worker", "name": "me", "pid": os.getpid(), "state": "running"}
    started = psutil.Process().create_time()
    told = processes({"processes": [{**me, "started": started}, {**me, "started": started - 60}]})
    assert [one["alive"] for one in told] == [True, False]


class Told(Installation):
    """An installation whose log is in memory."""

    def __init__(self, here: InMemory) -> None:
        super().__init__(here.settings, None, Path("nowhere"), {"bootstrap_servers": "memory:1"})
        object.__setattr__(self, "here", here)

    def log(self, command: str, deadline: Deadline | None = None) -> Log:
        log: Log = self.here.log  # type: ignore[attr-defined]
        return log


def test_what_an_open_transaction_hides_is_told_beside_the_lag(here: InMemory) -> None:
    assert "held" not in status_report(Told(here), 0)
    hung = (here.requests, here.work, here.settings.outputs.results, here.settings.outputs.dead_letters)
    for topic in hung:
        here.hang(topic)
    here.answer(Source("in", 0, 0))
    report = status_report(Told(here), 0)
    assert report["held"] == {f"{topic}/0": 2 if topic.endswith("results") else 1 for topic in hung}
    assert report["endpoints"]["sim"]["lanes"]["batch"]["lag"] == 0


def test_status_for_people_names_what_is_hidden(
    here: InMemory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here.hang(here.settings.outputs.results)
    monkeypatch.setattr(status, "find_installation", lambda _: Told(here))
    status.run(argparse.Namespace(json=False, interval=0))
    assert "behind open transactions" in (out := capsys.readouterr().out)
    assert "in no lag: headrace.results/0: 1" in out


def test_where_the_broker_is_silent_the_processes_are_told_first(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "ANSWER_S", 0.5)
    state = tmp_path / "state"
    state.mkdir()
    entry = {"role": "worker", "name": "worker-sim-00", "pid": 1, "started": 0, "state": "running"}
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        servers = f"127.0.0.1:{silent.getsockname()[1]}"
        living = {**entry, "name": "broker", "pid": os.getpid(), "started": psutil.Process().create_time()}
        told = json.dumps({"bootstrap_servers": servers, "processes": [entry, living]})
        (state / "runtime.json").write_text(told)
        ended = run("status", "--state-dir", str(state))
    assert ended.code == 1
    assert "no answer from the broker" in ended.err
    assert "worker-sim-00" in ended.out
    assert "running (gone)" in ended.out
    assert "1 of 2 processes run\nworker-sim-00 is gone" in ended.out


def test_an_installation_of_which_nothing_is_left_is_one_clear_line_and_exit_1(
    run: Run, tmp_path: Path
) -> None:
    entry = {"role": "worker", "name": "worker-sim-00", "pid": 1, "started": 0, "state": "running"}
    supervisor = {"pid": 1, "started": 0, "ready": True, "phase": None}
    left = {"bootstrap_servers": "127.0.0.1:1", "processes": [entry], "supervisor": supervisor}
    stopped: dict[str, object] = {"bootstrap_servers": None, "processes": []}
    for runtime in (left, stopped, None):
        if runtime is not None:
            (tmp_path / "runtime.json").write_text(json.dumps(runtime))
        ended = run("status", "--state-dir", str(tmp_path))
        assert (ended.code, ended.out) == (1, "")
        assert ended.err.startswith(f"headrace: nothing runs in {tmp_path}: start it with `headrace up")
        assert ended.err.count("\n") == 1
        (tmp_path / "runtime.json").unlink(missing_ok=True)


@pytest.mark.broker
def test_status_of_an_installation_without_work(run: Run, installed: Installed) -> None:
    told = json.loads(run("status", "--json", "-c", str(installed.config)).out)
    assert list(told) == ["brokers", "processes", "endpoints", "dead_letters", "dead_letters_open", "version"]
    assert told["brokers"] == [installed.log.bootstrap_servers]
    lane = {"lag": 0, "running": 0, "parked": 0, "rate_per_s": 0, "eta_s": [0, 0]}
    lanes = {"provisioned": lane, "interactive": lane, "batch": lane}
    assert told["endpoints"] == {"sim": {"lanes": lanes, "map_version": 1, "cache": {}}}
    for_people = run("status", "-c", str(installed.config))
    assert (for_people.code, for_people.err) == (0, "")
    assert "time left" in for_people.out


@pytest.mark.broker
def test_topics_are_told_with_settings_and_rights(run: Run, installed: Installed) -> None:
    told = json.loads(run("topics", "--json", "-c", str(installed.config)).out)
    topics = {topic["name"]: topic for topic in told["topics"]}
    work = topics[installed.settings.work_topic("sim", Lane.BATCH)]
    assert (work["partitions"], work["partitions_existing"], work["endpoint"]) == (2, 2, "sim")
    assert work["settings"]["retention.ms"] == "-1"
    assert {right["role"] for right in told["rights"]} >= {"dispatcher", "worker"}
    for_people = run("topics", "-c", str(installed.config)).out
    assert all(name in for_people for name in topics)


def test_topics_without_any_broker_tell_the_plan(run: Run) -> None:
    told = json.loads(run("topics", "--json").out)
    assert {topic["partitions_existing"] for topic in told["topics"]} == {None}
    assert "headrace.requests" in run("topics").out
