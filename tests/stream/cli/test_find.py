"""Where a record is, at each step of its life."""

from __future__ import annotations

import dataclasses
import json
import time

import pytest

from schemas.source import Source
from stream.cli.finding.hit import Hit, State
from stream.cli.finding.search import HITS_MAX, Search
from stream.client.deadline import Deadline
from stream.client.lanes import stranded
from stream.errors import LogTimeout, WaitedTooLong
from stream.exactly_once.offset_map import OffsetMap
from stream.log.base import Partition
from stream.log.memory.admin import MemoryAdmin
from tests.stream.cli.conftest import Run
from tests.stream.client.in_memory import InMemory
from workers.endpoint import Endpoint


@pytest.fixture
def here() -> InMemory:
    return InMemory()


def find(here: InMemory, words: str) -> list[Hit]:
    return list(Search(here.log, here.settings, Deadline(20)).run(words))


def routed(here: InMemory, source: Source) -> None:
    """The dispatcher has committed everything up to this record."""
    place = Partition(source.topic, source.partition)
    here.done(here.settings.dispatcher_group, place, OffsetMap.empty(source.offset + 1))


@pytest.mark.parametrize("by_id", [True, False])
def test_a_record_that_no_dispatcher_has_read_waits(here: InMemory, by_id: bool) -> None:
    first, second = here.request("r-1"), here.request("r-2")
    [hit] = find(here, "r-2" if by_id else str(second))
    assert (hit.source, hit.state, hit.where) == (second, State.WAITING, second)
    assert hit.why == "1 records before it in its partition"
    assert first.offset == 0


@pytest.mark.parametrize("by_id", [True, False])
def test_a_routed_record_is_released_with_its_place_in_the_queue(here: InMemory, by_id: bool) -> None:
    source = here.request("r-1")
    routed(here, source)
    here.release(Source("other", 0, 0))
    work = here.release(source)
    hit = Hit(source, State.RELEASED, work, "1 records before it in its partition")
    assert find(here, "r-1" if by_id else str(source)) == [hit]


def test_a_record_that_a_worker_names_in_its_heartbeat_runs(here: InMemory) -> None:
    source = here.request("r-1")
    routed(here, source)
    work = here.release(source)
    here.beat("worker-sim-00", [source])
    assert find(here, "r-1") == [Hit(source, State.RUNNING, work, "by worker-sim-00")]


def test_a_worker_that_is_silent_runs_nothing(here: InMemory) -> None:
    source = here.request("r-1")
    routed(here, source)
    here.release(source)
    here.beat("worker-sim-00", [source], age_ms=60_000)
    assert [hit.state for hit in find(here, "r-1")] == [State.RELEASED]


@pytest.mark.parametrize("by_id", [True, False])
def test_an_answer_is_found_on_its_topic(here: InMemory, by_id: bool) -> None:
    source = here.request("r-1")
    answer = here.answer(source, "r-1")
    assert find(here, "r-1" if by_id else str(source)) == [Hit(source, State.ANSWERED, answer)]


@pytest.mark.parametrize("by_id", [True, False])
def test_a_dead_letter_is_found_with_its_cause(here: InMemory, by_id: bool) -> None:
    source = here.request("r-1")
    letter = here.bury(source, b'{"custom_id": "r-1"}')
    hit = Hit(source, State.DEAD, letter, "invalid (validate): the reason")
    assert find(here, "r-1" if by_id else str(source)) == [hit]


def finished(here: InMemory) -> Source:
    """Its work is done, and no output of it is put anywhere."""
    source = here.request("r-1")
    routed(here, source)
    work = here.release(source)
    here.done(here.worker_group, Partition(work.topic, work.partition), OffsetMap.empty(work.offset + 1))
    return source


def test_what_is_done_and_has_no_output_is_finished_and_both_causes_are_named(here: InMemory) -> None:
    source = finished(here)
    why = "its output is no longer on its topic: deleted by retention, or discarded by `quarantine reset`"
    assert find(here, "r-1") == [Hit(source, State.FINISHED, None, why)]


def test_an_output_behind_an_open_transaction_is_not_called_deleted(here: InMemory) -> None:
    source = finished(here)
    here.hang(here.settings.outputs.results)
    here.answer(source, "r-1")
    [hit] = find(here, "r-1")
    assert (hit.state, hit.where) == (State.FINISHED, None)
    assert hit.why == (
        "its output is not visible: headrace.results/0 holds 2 records at most behind an open transaction "
        "(docs/operations.md, hanging transactions); "
        "or it was deleted by retention, or discarded by `quarantine reset`"
    )


def test_a_work_record_behind_an_open_transaction_is_not_called_answered(here: InMemory) -> None:
    source = here.request("r-1")
    routed(here, source)
    here.hang(here.work)
    here.release(source)
    [hit] = find(here, "r-1")
    assert (hit.state, hit.where) == (State.RELEASED, None)
    assert f"{here.work}/0 holds 2 records at most behind an open transaction" in (hit.why or "")


def test_an_input_behind_an_open_transaction_is_hinted_at(here: InMemory) -> None:
    search = Search(here.log, here.settings, Deadline(20))
    assert search.held_inputs() == {}
    here.hang(here.requests, 3)
    here.request("r-1", 3)
    assert list(search.run("r-1")) == []
    assert search.held_inputs() == {Partition(here.requests, 3): 2}


def test_an_output_without_the_id_is_found_by_its_source(here: InMemory) -> None:
    source = here.request("r-1")
    routed(here, source)
    answer = here.answer(source, "another")
    assert find(here, "r-1") == [Hit(source, State.ANSWERED, answer)]


def test_what_waits_for_an_endpoint_that_is_no_longer_configured_is_not_answered(here: InMemory) -> None:
    source = here.request("r-1")
    routed(here, source)
    work = here.release(source)
    gone = dataclasses.replace(here.settings, endpoints={"other": Endpoint("other", engine="simulated")})
    [hit] = Search(here.log, gone, Deadline(20)).run("r-1")
    assert (hit.state, hit.where) == (State.RELEASED, work)
    assert hit.why == "its endpoint is not in this configuration: nobody reads it"
    assert stranded(here.log.admin(), gone, here.log.admin().topics(5)) == {"sim": 1}
    assert not stranded(here.log.admin(), here.settings, here.log.admin().topics(5))


def test_the_map_says_what_above_the_base_is_done(here: InMemory) -> None:
    sources = [here.request(f"r-{number}") for number in range(3)]
    routed(here, sources[-1])
    works = [here.release(source) for source in sources]
    base = works[0].offset
    done_above = OffsetMap(base, base + 2, (base, base + 1))
    here.done(here.worker_group, Partition(here.work, 0), done_above)
    assert [find(here, f"r-{number}")[0].state for number in range(3)] == ["released", "released", "finished"]


def test_all_records_of_one_id_are_told(here: InMemory) -> None:
    first, second = here.request("same"), here.request("same", partition=1)
    here.answer(first, "same")
    hits = find(here, "same")
    assert {(hit.source, hit.state) for hit in hits} == {(first, State.ANSWERED), (second, State.WAITING)}


def test_an_id_that_contains_another_is_not_that_other(here: InMemory) -> None:
    here.request("r-17")
    assert find(here, "r-1") == []


def test_nobody_and_nothing_is_no_hit(here: InMemory) -> None:
    here.request("r-1")
    assert find(here, "r-2") == []
    assert find(here, f"{here.requests}/0/99") == []
    assert find(here, f"{here.requests}/99/0") == []
    assert find(here, "no-topic/0/0") == []


def test_an_id_may_look_like_a_position(here: InMemory) -> None:
    source = here.put(here.requests, b'{"custom_id": "shop/7/12"}')
    assert [hit.source for hit in find(here, "shop/7/12")] == [source]


@pytest.mark.parametrize("custom_id", ["ünï/☃", 'a"b\\c', "", " ", "\x01"])
def test_ids_that_json_may_write_in_several_ways_are_found(here: InMemory, custom_id: str) -> None:
    plain = here.put(here.requests, json.dumps({"custom_id": custom_id}).encode())
    other = here.put(here.requests, json.dumps({"custom_id": custom_id}, ensure_ascii=False).encode())
    assert [hit.source for hit in find(here, custom_id)] == [plain, other]


def test_an_id_in_an_avro_record_is_found(here: InMemory) -> None:
    source = here.put(here.requests, b"\x00\x00\x00\x00\x07\x08r-17\x00")
    here.put(here.requests, b"\x00\x00\x00\x00\x07\x0ar-178\x00")
    assert [hit.source for hit in find(here, "r-17")] == [source]


def test_hits_are_bounded(here: InMemory) -> None:
    for _ in range(HITS_MAX + 5):
        here.request("same")
    assert len(find(here, "same")) == HITS_MAX


def test_a_search_that_takes_too_long_says_so(here: InMemory) -> None:
    here.request("r-1")
    now = iter(range(0, 10_000, 10))
    deadline = Deadline(5, lambda: next(now))
    with pytest.raises(WaitedTooLong, match="not all was looked through in 5 s"):
        list(Search(here.log, here.settings, deadline).run("r-1"))


@pytest.mark.parametrize("question", ["topics", "group_offsets", "watermarks", "stable_ends"])
def test_a_question_that_nobody_answers_costs_no_more_than_the_time_given(
    here: InMemory, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.request("r-1")

    def silent(_admin: MemoryAdmin, *what: object) -> None:
        assert isinstance(what[-1], float)
        assert what[-1] <= 5
        raise LogTimeout("the broker is silent")

    monkeypatch.setattr(MemoryAdmin, question, silent)
    with pytest.raises(WaitedTooLong, match="not done in 5 s: the broker is silent"):
        list(Search(here.log, here.settings, Deadline(5)).run("r-1"))


@pytest.mark.parametrize(
    "value", [b'{"custom_id": "r-1", "body"', b'\xef\xbb\xbf{"custom_id": "r-1"}', b"{'custom_id': 'r-1'}"]
)
def test_a_line_that_is_no_json_is_found_by_its_id_and_by_its_source(here: InMemory, value: bytes) -> None:
    source = here.put(here.requests, value)
    assert [(hit.source, hit.state) for hit in find(here, "r-1")] == [(source, State.WAITING)]
    letter = here.bury(source, value)
    hit = Hit(source, State.DEAD, letter, "invalid (validate): the reason")
    assert find(here, "r-1") == find(here, str(source)) == [hit]


def find_text(here: InMemory, text: str, since_ms: int | None = None) -> list[tuple[Source, State]]:
    hits = Search(here.log, here.settings, Deadline(20)).run_text(text, since_ms)
    return [(hit.source, hit.state) for hit in hits]


def test_a_record_is_found_by_a_text_of_its_value_wherever_it_is(here: InMemory) -> None:
    dead, waiting, answered = (
        here.put(here.requests, value, partition=number)
        for number, value in enumerate([b"no: the caf\xc3\xa9", rb'"the caf\u00e9"', "[the café]".encode()])
    )
    other = here.put(here.requests, b"the tea")
    routed(here, answered)
    here.bury(dead, b"no: the caf\xc3\xa9")
    here.answer(answered)
    here.answer(other, "the café")
    assert sorted(find_text(here, "the café")) == [
        (dead, State.DEAD),
        (waiting, State.WAITING),
        (answered, State.ANSWERED),
    ]


def test_what_came_before_a_moment_is_not_found_by_its_text(here: InMemory) -> None:
    source = here.put(here.requests, b"the tea")
    here.bury(here.put(here.requests, b"tea too"), b"tea too")
    now_ms = time.time_ns() // 1_000_000
    assert len(find_text(here, "tea", now_ms - 60_000)) == 2
    assert find_text(here, "tea", now_ms + 60_000) == []
    assert find_text(here, "the tea") == [(source, State.WAITING)]


@pytest.mark.parametrize("words", [(), ("x", "--text", "y"), ("x", "--since", "1h"), ("--text", "")])
def test_an_id_or_a_text_is_asked_for(words: tuple[str, ...], run: Run) -> None:
    assert run("find", *words).code == 2
