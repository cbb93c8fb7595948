"""What a worker's metrics say after a known set of records."""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest

from schemas.failure import ErrorClass, Failure
from schemas.failure import Stage as FailureStage
from schemas.lane import LANES, Lane
from stream.config.settings import slot_name
from stream.log.base import Partition
from stream.log.memory.log import Fault
from stream.metrics.prometheus import PrometheusMetrics
from stream.worker.assembly import build_worker, open_sockets
from stream.worker.dependencies import WorkerDependencies
from stream.worker.limits import WorkerLimits
from tests.stream.metrics.served import value, values
from tests.stream.worker.house import FAST, House, request_line
from tests.workers.stage import QUICK, running, simulated
from workers.clock import SystemClock
from workers.engines.base import Answer, Tokens
from workers.journal import Journal

PATIENCE_S = 60.0
RULES = WorkerLimits(
    poll_s=0.0, look_s=0.001, revoke_s=1.0, offsets_s=1.0, drain_s=0.5, heartbeat_s=0.5, lag_every_s=1.0
)


@dataclass
class Day:
    """A worker's day with the simulated engine, and what it counted."""

    house: House
    metrics: PrometheusMetrics
    #: Transactions by outcome, as the producer gave them.
    transactions: Counter[str]
    #: How long it was, by the clock that the stages are timed by.
    seconds: float = 0.0

    def values(self, name: str) -> dict[tuple[str, ...], float]:
        return values(self.metrics, name)


def simulate(directive: str) -> bytes:
    line = json.loads(request_line(directive))
    line["body"]["metadata"] = {"simulate": directive}
    return json.dumps(line).encode()


def fill(house: House, journal: Journal) -> int:
    """5 good ones in two lanes, 2 that are retried, 1 refused by the engine, 1 unreadable; 2 had been started before."""
    good = house.put(3) + house.put(2, lane=Lane.INTERACTIVE, partition=1)
    for value_ in (simulate("transient:1"), simulate("invalid_output:1"), simulate("reject"), b"{nonsense"):
        house.put(1, value=value_)
    journal.started(good[:2])
    return len(good) + 4


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Day:
    house = House()
    house.clock.now_s = began_s = time.time()
    path = Path(tmp_path_factory.mktemp("journal")) / "starts"
    earlier = Journal(path)
    count = fill(house, earlier)
    earlier.close()
    house.log.inject(slot_name("headrace.worker.sim", 0), Fault.ABORTED)
    told = Day(house, PrometheusMetrics(), Counter())
    journal = Journal(path)
    with running(simulated(), QUICK, journal) as runner:
        live(told, runner, count)
    told.seconds = time.time() - began_s
    journal.close()
    return told


def live(day: Day, runner: Any, count: int) -> None:
    house = day.house
    parts = WorkerDependencies(
        house.log, runner, house.clock, SystemClock().now_ms, metrics=day.metrics, rules=RULES
    )
    sockets = open_sockets(house.settings, house.endpoint, 0, parts, house.log.admin())
    publish = sockets.producer.publish

    def counted(*args: Any, **named: Any) -> Any:
        outcome = publish(*args, **named)
        day.transactions[type(outcome).__name__] += 1
        return outcome

    sockets.producer.publish = counted  # type: ignore[method-assign]
    sockets.producer.start(5)
    loop, steps = build_worker(house.settings, house.endpoint, "worker-00", parts, sockets)
    sockets.consumer.subscribe(steps.topics, steps.assignment)
    until_s = time.monotonic() + PATIENCE_S
    while house.outputs_of().total() < count:
        assert time.monotonic() < until_s, house.outputs_of()
        loop.turn()
        house.clock.passes(0.05)
        time.sleep(0.001)
    for _ in range(100):  # the last offsets are committed, levels and lag told
        loop.turn()
        house.clock.passes(0.05)
    loop.drain()


def test_records_are_counted_by_lane_and_outcome(day: Day) -> None:
    assert day.values("headrace_records_total") == {
        ("sim", "batch", "result"): 5,
        ("sim", "batch", "dead_letter"): 2,
        ("sim", "interactive", "result"): 2,
    }


def test_dead_letters_are_counted_by_class_and_stage(day: Day) -> None:
    assert day.values("headrace_dead_letters_total") == {
        ("invalid", "validate"): 1,
        ("unreadable", "decode"): 1,
    }


def test_transactions_are_counted_by_outcome_and_cause(day: Day) -> None:
    assert day.transactions["Aborted"] == 1
    assert day.values("headrace_transactions_total") == {
        ("", "committed", "worker"): day.transactions["Success"],
        ("injected", "aborted", "worker"): 1,
    }
    timed = day.values("headrace_transaction_seconds_count")
    assert timed == {("worker",): day.transactions.total()}


def test_engine_calls_are_counted_by_outcome_and_repeats_of_an_earlier_process_too(day: Day) -> None:
    assert day.values("headrace_engine_calls_total") == {
        ("sim", "answered"): 7,
        ("sim", "retried"): 2,
        ("sim", "rejected"): 1,
    }
    assert day.values("headrace_engine_repeats_total") == {("sim",): 2}


def test_tokens_are_those_of_the_results_and_of_the_answer_that_was_thrown_away(day: Day) -> None:
    found = [json.loads(record.value() or b"") for record in day.house.results]
    used = [(line["custom_id"], line["response"]["body"]["usage"]) for line in found]
    used += [(name, usage) for name, usage in used if name == "invalid_output:1"]
    assert len(used) == 8
    assert day.values("headrace_tokens_total") == {
        ("sim", "input"): sum(usage["prompt_tokens"] for _, usage in used),
        ("sim", "output"): sum(usage["completion_tokens"] for _, usage in used),
    }


def test_every_stage_of_every_lane_was_observed(day: Day) -> None:
    observed = day.values("headrace_stage_seconds_count")
    assert set(observed) == {
        (lane, stage)
        for lane in ("batch", "interactive")
        for stage in ("queued", "waiting", "engine", "commit")
    }
    sums = day.values("headrace_stage_seconds_sum")
    assert all(seconds <= observed[stage] * day.seconds for stage, seconds in sums.items())


def test_at_the_end_nothing_is_behind_running_or_ready_and_the_maps_are_those_committed(day: Day) -> None:
    for name in ("headrace_lag_records", "headrace_inflight", "headrace_ready", "headrace_quarantined"):
        assert day.values(name) == {}
    places = [Partition(day.house.work_topic(lane), number) for lane in LANES for number in range(2)]
    found = day.house.log.admin().group_offsets("headrace.worker.sim", places, 1)
    assert day.values("headrace_offset_map_chars") == {
        (str(place.partition), place.topic): len(at.metadata) for place, at in found.items() if at
    }


# ---- in the middle of it: an engine whose calls end when the test says so --------------------------------------------


def levels_at_work() -> tuple[House, PrometheusMetrics]:
    """10 in two lanes, 2 slots: one has an answer, two run, the others wait."""
    house = House(slots=2, commit_interval_ms=1_000_000)
    metrics = PrometheusMetrics()
    quick = house.put(1, lane=Lane.INTERACTIVE, partition=1)
    worker = house.worker(auto=False, metrics=metrics, rules=RULES).turn(2, step_s=0)
    house.put(9)
    worker.turn(3, step_s=0)
    worker.runner.end(quick[0])
    worker.turn(60)
    batch = worker.runner.started[1]
    worker.runner.end(batch, Answer({"choices": []}, Tokens(3, 2, 1), 0.0))
    worker.turn(60)
    return house, metrics


def test_levels_say_what_runs_what_is_ready_and_what_is_behind() -> None:
    house, metrics = levels_at_work()
    assert values(metrics, "headrace_inflight") == {("sim", "batch"): 2}
    assert values(metrics, "headrace_ready") == {("sim", "batch"): 1}
    # 9 that are not committed; the lane that is through has its marker behind it too.
    assert values(metrics, "headrace_lag_records") == {("0", house.work_topic(Lane.BATCH)): 9}
    assert values(metrics, "headrace_tokens_total") == {
        ("sim", "input"): 6,
        ("sim", "output"): 4,
        ("sim", "cached"): 1,
    }
    for lane in LANES:
        assert value(metrics, "headrace_inflight", endpoint="sim", lane=str(lane)) >= 0


def test_a_map_with_holes_has_the_length_of_what_is_committed() -> None:
    house, metrics = House(), PrometheusMetrics()
    sources = house.put(6)
    worker = house.worker(auto=False, metrics=metrics, rules=RULES).turn(3)
    for source in sources[1:4]:
        worker.runner.end(source)
    worker.turn(20)
    place = Partition(house.work_topic(Lane.BATCH), 0)
    found = house.log.admin().group_offsets("headrace.worker.sim", [place], 1)[place]
    assert found is not None
    assert found.offset == 0
    assert len(found.metadata) > 5
    assert values(metrics, "headrace_offset_map_chars")[("0", place.topic)] == len(found.metadata)


def test_stage_times_are_a_sample_of_4_a_batch_and_measure_what_they_say() -> None:
    house, metrics = House(), PrometheusMetrics()
    house.put(7)
    worker = house.worker(auto=False, metrics=metrics, rules=RULES).turn(3)
    written_ms = house.read(house.work_topic(Lane.BATCH))[0].timestamp()[1]
    worker.runner.end_all()
    worker.runner._ended = [
        msgspec.structs.replace(one, started_ms=written_ms + 3_000, done_ms=written_ms + 5_000)
        for one in worker.runner._ended
    ]
    worker.turn(10)
    assert len(house.results) == 7
    counts = values(metrics, "headrace_stage_seconds_count")
    assert counts == {("batch", stage): 4 for stage in ("queued", "waiting", "engine", "commit")}
    sums = values(metrics, "headrace_stage_seconds_sum")
    assert sums[("batch", "waiting")] == pytest.approx(4 * 3, abs=1)
    assert sums[("batch", "engine")] == pytest.approx(4 * 2)


def test_fields_without_effect_are_counted_and_named_in_the_result() -> None:
    house, metrics = House(), PrometheusMetrics()
    body = {"model": "sim", "messages": [{"role": "user", "content": "a"}], "user": "u", "unheard": 1}
    house.put(1, value=json.dumps({"url": "/v1/chat/completions", "body": body}).encode())
    house.worker(metrics=metrics, rules=RULES).turn(20)
    assert values(metrics, "headrace_ignored_fields_total") == {("sim",): 2}
    [result] = house.results
    assert json.loads(result.value() or b"")["headrace"]["ignored"] == {
        "paths": ["$.body.user", "$.body.unheard"],
        "count": 2,
    }


def test_a_call_that_failed_counts_its_tokens_and_one_dead_letter() -> None:
    house, metrics = House(), PrometheusMetrics()
    [source] = house.put(1)
    worker = house.worker(auto=False, metrics=metrics, rules=RULES).turn(3)
    worker.runner.end(source, Failure(ErrorClass.ENGINE, FailureStage.ENGINE, "it broke"))
    worker.turn(10)
    assert values(metrics, "headrace_dead_letters_total") == {("engine", "engine"): 1}
    assert values(metrics, "headrace_tokens_total") == {("sim", "input"): 3}


@pytest.mark.parametrize("fault", Fault)
def test_records_are_counted_once_whatever_became_of_their_transaction(fault: Fault) -> None:
    house, metrics = House(), PrometheusMetrics()
    worker = house.worker(auto=False, metrics=metrics, rules=FAST).turn(20)
    house.put(4)
    house.put(1, value=b"{nonsense")
    worker.turn(1)
    house.log.inject(slot_name("headrace.worker.sim", 0), fault)
    worker.runner.end_all()
    worker.turn(80)
    assert house.outputs_of().total() == 5
    assert values(metrics, "headrace_records_total") == {
        ("sim", "batch", "result"): 4,
        ("sim", "batch", "dead_letter"): 1,
    }
    assert values(metrics, "headrace_dead_letters_total") == {("unreadable", "decode"): 1}
    outcome = ("injected", "aborted") if fault is Fault.ABORTED else ("timed_out", "unknown")
    assert values(metrics, "headrace_transactions_total")[(*outcome, "worker")] == 1
