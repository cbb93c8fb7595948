"""The worker's loop on the log in memory."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schemas.failure import ErrorClass, Failure, Stage
from schemas.lane import Lane
from stream.log.base import Output, Partition, Polled
from tests.stream.unreadable import Unreadable
from tests.stream.worker.house import House, header


def test_every_record_gets_a_result_and_a_usage_record() -> None:
    house = House()
    sources = house.put(20) + house.put(5, lane=Lane.INTERACTIVE, partition=1)
    house.worker().turn()
    assert house.outputs_of() == {str(source): 1 for source in sources}
    assert len(house.results) == 25
    assert len(house.usage) == 25


def test_progress_is_committed_to_the_end_of_the_log_with_an_empty_map() -> None:
    house = House()
    house.put(20)
    worker = house.worker().turn()
    worker.close()
    found = house.committed()
    assert found is not None
    assert (found.base, found.incomplete, found.deaths) == (21, (), 0)


def test_after_a_crash_only_what_was_not_committed_runs_again() -> None:
    house = House()
    sources = house.put(6)
    first = house.worker(auto=False).turn(3)
    for source in sources[1:4]:
        first.runner.end(source)
    first.turn(5)
    again = house.worker().turn()
    assert again.runner.started == [sources[0], *sources[4:]]
    assert house.outputs_of() == {str(source): 1 for source in sources}


def test_with_serial_order_records_of_one_session_run_one_at_a_time() -> None:
    house = House(order="serial")
    sources = house.put(3, session="s")
    worker = house.worker(auto=False).turn(3)
    assert worker.runner.started == sources[:1]
    worker.runner.end(sources[0])
    worker.turn(2)
    assert worker.runner.started == sources[:2]


def test_other_sessions_do_not_wait_for_a_slow_one() -> None:
    house = House()
    slow = house.put(2, session="slow")
    quick = house.put(2, session="quick") + house.put(2)
    worker = house.worker(auto=False).turn(3)
    assert slow[0] in worker.runner.started
    for _ in range(3):
        for call in list(worker.runner.inside.values()):
            if call.source != slow[0]:
                worker.runner.end(call.source)
        worker.turn(5)
    assert house.outputs_of() == {str(source): 1 for source in quick}


def test_an_interactive_answer_does_not_wait_for_the_interval_and_batch_does() -> None:
    house = House()
    batch = house.put(1)
    quick = house.put(1, lane=Lane.INTERACTIVE)
    worker = house.worker(auto=False).turn(4)
    worker.turn(1, step_s=0)
    worker.runner.end_all()
    worker.turn(2, step_s=0)
    assert house.outputs_of() == {str(source): 1 for source in quick}
    house.clock.now_s += 0.11
    worker.turn(2, step_s=0)
    assert house.outputs_of() == {str(source): 1 for source in batch + quick}


def test_what_is_ready_is_committed_once_the_engine_has_rested_a_moment() -> None:
    house = House(commit_interval_ms=1_000)
    last, other = house.put(2)
    worker = house.worker(auto=False).turn(3)
    worker.runner.end(other)
    worker.turn(5)
    assert not house.outputs_of()  # the engine is at work: more will come
    worker.runner.end(last)
    worker.turn(3)
    assert house.outputs_of() == {str(source): 1 for source in (last, other)}


def test_a_trickle_costs_a_transaction_more_in_an_interval_and_not_one_for_each_record() -> None:
    house = House(commit_interval_ms=1_000)
    worker = house.worker().turn(40)
    tally = Transactions()
    committer = worker.loop._steps.committer
    committer._effects = replace(committer._effects, tally=tally)
    for _ in range(100):
        house.put(1)
        worker.turn(7, step_s=0.01)
    assert tally.ended_count in range(7, 16)  # in the 7 seconds


def test_many_that_are_ready_are_committed_at_each_rest() -> None:
    house = House(commit_interval_ms=1_000)
    worker = house.worker().turn(40)
    for times in range(1, 4):
        house.put(100)
        worker.turn(10, step_s=0.01)
        assert len(house.results) == 100 * times


class Transactions:
    """Counts them."""

    def __init__(self) -> None:
        self.ended_count = 0

    def ended(self, *_: object) -> None:
        self.ended_count += 1

    def found_committed(self, *_: object) -> None:
        """No outcome is unknown here."""


def test_the_highest_lane_starts_first_and_slots_bound_what_runs() -> None:
    house = House(slots=2)
    batch = house.put(3)
    quick = house.put(2, lane=Lane.INTERACTIVE)
    worker = house.worker(auto=False).turn(3)
    assert worker.runner.started == quick
    worker.runner.end_all()
    worker.turn(2)
    assert worker.runner.started == quick + batch[:2]


def test_a_failed_call_becomes_a_dead_letter_with_its_original() -> None:
    house = House()
    source = house.put(1, key=b"\xff\x00", headers=[("mine", b"1"), ("headrace-lane", b"batch")])[0]
    worker = house.worker(auto=False).turn(3)
    worker.runner.end(source, Failure(ErrorClass.ENGINE, Stage.ENGINE, "it broke"))
    worker.turn(5)
    letter = house.dead_letters[0]
    assert letter.key() == b"\xff\x00"
    assert header(letter, "headrace-error-class") == "engine"
    assert header(letter, "headrace-in.lane") == "batch"
    assert header(letter, "mine") == "1"
    assert len(house.usage) == 1


def test_errors_as_results_go_to_the_results() -> None:
    house = House()
    source = house.put(1, headers=[("headrace-errors", b"result")])[0]
    worker = house.worker(auto=False).turn(3)
    worker.runner.end(source, Failure(ErrorClass.ENGINE, Stage.ENGINE, "it broke"))
    worker.turn(5)
    assert not house.dead_letters
    assert b'"code":"engine"' in (house.results[0].value() or b"")


def test_a_record_that_cannot_be_decoded_costs_one_dead_letter() -> None:
    house = House()
    good = house.put(1)
    bad = house.put(1, value=b"{nonsense")
    also_good = house.put(1)
    house.worker().turn()
    assert house.outputs_of() == {str(source): 1 for source in good + bad + also_good}
    assert header(house.dead_letters[0], "headrace-error-class") == "unreadable"
    assert len(house.results) == 2


def test_a_foreign_record_on_a_work_topic_costs_one_dead_letter() -> None:
    house = House()
    house.log.plain_producer().send(Output(house.work_topic(Lane.BATCH), b"k", b"v", [], 0))
    good = house.put(1)
    house.worker().turn()
    assert house.outputs_of()[str(good[0])] == 1
    assert [letter.value() for letter in house.dead_letters] == [b"v"]


def test_a_foreign_record_whose_headers_cannot_be_read_costs_one_dead_letter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House()
    place = Partition(house.work_topic(Lane.BATCH), 0)
    house.log.plain_producer().send(Output(place.topic, b"k", b"v", [], 0))
    good = house.put(1)
    worker = house.worker(auto=True)
    poll = worker.sockets.consumer.poll

    def polled(records_max: int, timeout_s: float) -> Polled:
        found = poll(records_max, timeout_s)
        return Polled([Unreadable(*place, 0) if r.offset() == 0 else r for r in found.records], found.ends)

    monkeypatch.setattr(worker.sockets.consumer, "poll", polled)
    worker.turn()
    assert house.outputs_of()[str(good[0])] == 1
    [letter] = house.dead_letters
    assert header(letter, "headrace-error-class") == "unreadable"
    assert (letter.key(), letter.value()) == (Unreadable().key(), Unreadable().value())


def test_offsets_of_markers_are_committed_without_any_answer() -> None:
    house = House()
    house.put(1)
    worker = house.worker().turn()
    house.put(1, partition=1)
    worker.turn()
    found = house.committed(partition=0)
    assert found is not None
    assert found.base == 2


def test_a_drain_lets_running_calls_end_and_starts_nothing() -> None:
    house = House(slots=1)
    sources = house.put(2)
    worker = house.worker(auto=False).turn(3)
    worker.runner.end(sources[0])
    worker.close()
    assert house.outputs_of() == {str(sources[0]): 1}
    again = house.worker().turn()
    assert again.runner.started == [sources[1]]
