"""Transactions that fail, outcomes that nobody knows, targets that refuse."""

from __future__ import annotations

import dataclasses

import pytest

from schemas.lane import Lane
from stream.config.settings import Limits
from stream.errors import LogError, LogFenced
from stream.log.base import Partition
from stream.log.memory.log import Fault
from tests.stream.worker.house import FAST, House, header
from workers.engines.base import Answer, Tokens

ID = "headrace.worker.sim.00"


def reply(topic: str) -> list[tuple[str, bytes | None]]:
    return [("headrace-reply-to", topic.encode())]


@pytest.mark.parametrize("fault", list(Fault))
def test_whatever_becomes_of_a_transaction_each_record_has_one_output(fault: Fault) -> None:
    house = House()
    sources = house.put(5)
    house.log.inject(ID, Fault.ABORTED)
    worker = house.worker().turn(6)
    house.log.inject(ID, fault, fault)
    more = house.put(5) + house.put(5, lane=Lane.INTERACTIVE, partition=1)
    worker.turn(40)
    assert house.outputs_of() == {str(source): 1 for source in sources + more}


def test_the_map_decides_when_the_response_of_the_commit_is_lost() -> None:
    house = House()
    sources = house.put(3)
    worker = house.worker(auto=False).turn(4)
    worker.runner.end(sources[1])
    house.log.inject(ID, Fault.COMMITTED_UNKNOWN)
    worker.turn(4)
    assert house.outputs_of() == {str(sources[1]): 1}
    assert not len(worker.share.ready)
    worker.runner.end_all()
    worker.turn(4)
    assert house.outputs_of() == {str(source): 1 for source in sources}


def test_a_twin_in_the_slot_ends_the_older_process() -> None:
    house = House()
    worker = house.worker(auto=False).turn(4)
    house.log.producer(ID).start(1)
    house.put(1)
    with pytest.raises(LogFenced):
        worker.turn(10)


def test_a_missing_reply_topic_costs_its_own_answers_only() -> None:
    house = House()
    house.create("headrace.replies.there")
    bad = house.put(3, headers=reply("headrace.replies.gone"))
    good = house.put(3)
    there = house.put(2, headers=reply("headrace.replies.there"))
    house.worker().turn(20)
    every = {str(source): 1 for source in bad + good + there}
    assert house.outputs_of("headrace.replies.there") == every
    assert len(house.results) == 3
    assert {header(letter, "headrace-error-class") for letter in house.dead_letters} == {"unwritable"}
    assert len(house.dead_letters) == 3


def test_a_compacted_reply_topic_is_refused() -> None:
    house = House()
    house.create("headrace.replies.compacted", cleanup_policy="compact")
    house.put(1, headers=reply("headrace.replies.compacted"))
    house.worker().turn(10)
    assert header(house.dead_letters[0], "headrace-error-class") == "unwritable"
    assert "compacted" in header(house.dead_letters[0], "__dlq.errors.message")


def test_a_reply_topic_that_may_not_be_written_costs_its_own_answers_only() -> None:
    house = House()
    house.create("headrace.replies.denied")
    house.create("headrace.replies.fine")
    house.log.deny("headrace.replies.denied")
    bad = house.put(3, headers=reply("headrace.replies.denied"))
    good = house.put(2, headers=reply("headrace.replies.fine")) + house.put(2)
    house.worker().turn(30)
    assert house.outputs_of("headrace.replies.fine") == {str(source): 1 for source in bad + good}
    assert len(house.dead_letters) == 3


def test_a_proven_reply_topic_that_is_deleted_in_mid_run_costs_its_own_answers_only() -> None:
    house = House()
    for name in ("a", "b"):
        house.create(f"headrace.replies.{name}")
        house.put(1, headers=reply(f"headrace.replies.{name}"))
    worker = house.worker().turn(20)
    house.log.admin().delete(["headrace.replies.a"], 1)
    bad = house.put(2, headers=reply("headrace.replies.a"))
    good = house.put(2, headers=reply("headrace.replies.b"))
    worker.turn(40)
    outputs = house.outputs_of("headrace.replies.b")
    assert {source: outputs[str(source)] for source in bad + good} == dict.fromkeys(bad + good, 1)
    assert len(house.dead_letters) == 2


def test_a_quarantined_reply_topic_is_looked_up_again() -> None:
    house = House()
    house.put(1, headers=reply("headrace.replies.late"))
    worker = house.worker().turn(10)
    house.create("headrace.replies.late")
    house.put(1, headers=reply("headrace.replies.late"))
    worker.turn(5)
    assert len(house.dead_letters) == 2
    house.clock.now_s += 30
    house.put(1, headers=reply("headrace.replies.late"))
    worker.turn(10)
    assert len(house.read("headrace.replies.late")) == 1


def test_a_reply_to_a_partition_that_is_not_there_is_unwritable() -> None:
    house = House()
    house.create("headrace.replies.one")
    house.put(1, headers=reply("headrace.replies.one:7"))
    house.put(1, headers=reply("headrace.results:99"))
    house.worker().turn(10)
    assert len(house.dead_letters) == 2


def test_one_answer_too_large_becomes_a_dead_letter_and_its_neighbours_are_answered() -> None:
    house = House()
    house.create("headrace.replies.small", max_message_bytes="2000")
    sources = house.put(9, headers=reply("headrace.replies.small"))
    more = house.put(4)
    worker = house.worker(auto=False).turn(4)
    worker.runner.end(sources[4], Answer({"text": "x" * 5_000}, Tokens(), 0.0))
    worker.runner.end_all()
    worker.turn(60)
    outputs = house.outputs_of("headrace.replies.small")
    assert outputs == {str(source): 1 for source in sources + more}
    letters = [header(letter, "headrace-source") for letter in house.dead_letters]
    assert letters == [str(sources[4])]
    assert header(house.dead_letters[0], "headrace-error-class") == "too_large"


def test_a_service_topic_that_refuses_stops_the_worker() -> None:
    house = House()
    house.log.deny(house.settings.outputs.results)
    house.put(1)
    with pytest.raises(LogError, match="own topics"):
        house.worker().turn(10)


def test_a_foreign_transaction_holds_back_the_later_answers_of_its_session() -> None:
    house = House(limits=Limits())
    house.create("headrace.replies.x")
    first = house.put(1, session="s", headers=reply("headrace.replies.x"))
    second = house.put(1, session="s")
    other = house.put(1)
    house.worker().turn(20)
    assert house.outputs_of("headrace.replies.x") == {str(s): 1 for s in first + second + other}


def test_a_full_partition_is_paused_and_read_on_later() -> None:
    house = House(limits=Limits(open_records_max=16), slots=4)
    sources = house.put(60) + house.put(10, partition=1)
    worker = house.worker(auto=False)
    for _ in range(400):
        worker.turn(1)
        assert all(len(book.open) <= 16 for book in worker.share.ledgers.values())
        for call in list(worker.runner.inside.values())[:2]:
            worker.runner.end(call.source)
    assert house.outputs_of() == {str(source): 1 for source in sources}


def test_a_drain_starts_nothing_new_even_while_it_commits() -> None:
    house = House(slots=2)
    worker = house.worker(auto=False, rules=dataclasses.replace(FAST, drain_s=40.0)).turn(5)
    sources = house.put(200)
    worker.turn(3, step_s=0)

    def one_ends_each_second(_timeout_s: float) -> bool:
        house.clock.passes(1.0)
        for one in list(worker.runner.inside.values())[:1]:
            worker.runner.end(one.source)
        return True

    worker.runner.wait = one_ends_each_second  # type: ignore[method-assign, assignment]
    worker.loop.drain()
    assert worker.runner.started == sources[:2]
    assert house.outputs_of() == {str(source): 1 for source in sources[:2]}


def test_a_reset_partition_whose_seek_fails_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    house = House()
    sources = house.put(6)
    house.commit_offset(3, "abc")
    worker = house.worker().turn(10)
    assert worker.share.quarantined
    house.commit_offset(0, "")
    seek = worker.sockets.consumer.seek
    failures = iter([LogError("seek: erroneous state")])

    def failing_once(place: Partition, offset: int) -> None:
        for failure in failures:
            raise failure
        seek(place, offset)

    monkeypatch.setattr(worker.sockets.consumer, "seek", failing_once)
    for _ in range(2):
        house.clock.passes(11)
        worker.turn(200)
    assert house.outputs_of() == {str(source): 1 for source in sources}
