"""Headers are bounded by count: a record with too many gets a dead letter that everybody can read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schemas.control import headers_size
from schemas.failure import ErrorClass, Stage
from schemas.headers import Headers
from schemas.weight import HEADERS_MAX, record_weight
from stream.dispatcher.batch import Batch
from stream.log.base import Output, Record
from stream.replay.find import find_dead_letters
from tests.stream.dispatcher import stage as staged
from tests.stream.dispatcher.stage import line

GOOD = line()


def many(count: int, *more: tuple[str, bytes]) -> Headers:
    return [*more, *[("a", None)] * (count - len(more))]


def test_a_thousand_headers_travel() -> None:
    stage = staged.Stage()
    stage.send(GOOD, headers=many(HEADERS_MAX))
    stage.dispatch()
    assert [len(work.carried) for work in stage.work] == [HEADERS_MAX]


def test_one_more_is_unreadable_and_its_neighbours_are_routed() -> None:
    stage = staged.Stage()
    stage.send(GOOD)
    headers = many(HEADERS_MAX + 200, ("headrace-tenant", b"acme"), ("mine", b"1"))
    stage.send(GOOD, key=b"k", headers=headers)
    stage.send(GOOD)
    stage.dispatch()
    assert [work.source.offset for work in stage.work] == [0, 2]
    [letter] = stage.dead
    assert (letter.failure.error_class, letter.failure.stage) == (ErrorClass.UNREADABLE, Stage.DECODE)
    assert "1200 headers; at most 1000" in letter.failure.message
    assert (letter.source.offset, letter.key, letter.value) == (1, b"k", GOOD)
    assert letter.tenant == "acme"
    assert letter.original_headers == [("headrace-tenant", b"acme")]
    assert letter.headers_omitted == headers_size(headers)


def test_its_dead_letter_is_listed() -> None:
    stage = staged.Stage()
    stage.send(GOOD, headers=many(5_000))
    stage.dispatch()
    assert [str(each.letter.source) for each in find_dead_letters(stage.log, stage.settings)] == [
        f"{staged.INPUT}/0/0"
    ]


def test_who_asked_for_errors_as_results_gets_one() -> None:
    stage = staged.Stage()
    stage.send(GOOD, headers=many(5_000, ("headrace-errors", b"result")))
    stage.dispatch()
    [result] = stage.records(stage.settings.outputs.results)
    assert b'"unreadable"' in (result.value() or b"")
    assert len(result.headers() or []) < 10
    assert stage.dead == []


@pytest.mark.parametrize("headers_each", [0, 3])
def test_a_transaction_takes_no_more_bytes_than_its_bound_headers_counted(headers_each: int) -> None:
    stage = staged.Stage()
    stage.send(*[GOOD] * 20, key=b"k" * 500, headers=[("h", b"x" * 1_000)] * headers_each)
    records = stage.records(staged.INPUT)
    batch = Batch()
    batch.with_headers = bool(headers_each)
    for record in records:
        batch.records.append(record)
        batch.outputs.append(_copy(record))
    one = record_weight(records[0].key(), GOOD, records[0].headers() or [])
    assert batch.prefix(100, 5 * one) == 5
    assert batch.prefix(100, 1) == 1
    assert batch.prefix(100, 20 * one) == 20


def test_headers_of_producers_close_a_transaction() -> None:
    settings = staged.Stage().settings
    limits = replace(settings.limits, txn_bytes_max=100_000)
    commits: list[str] = []
    stage = staged.Stage(settings=replace(settings, limits=limits), reach=commits.append)
    stage.send(*[GOOD] * 20, headers=[("h", b"x" * 20_000)])
    stage.dispatch(turns=30)
    assert len(stage.work) == 20
    before_commit = max(commits.count(point) for point in set(commits))
    assert before_commit >= 5


def _copy(record: Record) -> Output:
    return Output("work", record.key(), record.value(), record.headers() or [])


def test_a_few_too_many_all_stay_on_the_dead_letter() -> None:
    stage = staged.Stage()
    headers = many(HEADERS_MAX + 1, ("headrace-tenant", b"acme"))
    stage.send(GOOD, headers=headers)
    stage.dispatch()
    [letter] = stage.dead
    assert letter.failure.error_class is ErrorClass.UNREADABLE
    assert letter.tenant == "acme"
    assert letter.headers_omitted is None
    assert letter.original_headers == headers


def test_the_mark_of_a_replay_is_not_counted() -> None:
    stage = staged.Stage()
    stage.send(GOOD, headers=[*many(HEADERS_MAX), ("headrace-replay", b"1")])
    stage.dispatch()
    assert [work.replay for work in stage.work] == [1]
