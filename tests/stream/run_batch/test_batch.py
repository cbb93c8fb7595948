"""A batch from its rows to its files, on the log in memory: each row once, whenever it is stopped."""

from __future__ import annotations

import json
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from schemas import headers as names
from schemas.headers import Headers
from schemas.result import Facts, answer_value
from schemas.source import Source
from stream.config.settings import Settings
from stream.log.base import Output
from stream.log.memory.log import Fault
from stream.run_batch import feeder
from stream.run_batch.batch_headers import ROW
from stream.run_batch.state import State
from stream.run_batch.wanted import Wanted
from tests.stream.run_batch.stage import BATCH, INVALID, REPLY, StageOfBatch, requests_file


class Killed(BaseException):
    """No word of the batch runs after it."""


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def ids(path: Path) -> list[str]:
    return [line["custom_id"] for line in lines(path)]


def stage(tmp_path: Path, rows: list[str | None], **more: Any) -> StageOfBatch:
    return StageOfBatch(Wanted(requests_file(tmp_path, rows), tmp_path / "out.jsonl", **more))


def test_each_line_is_answered_as_vllm_writes_it(tmp_path: Path) -> None:
    batch = stage(tmp_path, ["a", "b", None, "a"])
    batch.run()
    found = lines(tmp_path / "out.jsonl")
    assert [set(line) for line in found] == [{"id", "custom_id", "response", "error"}] * 4
    assert set(found[0]["response"]) == {"status_code", "request_id", "body"}
    assert sorted(str(line["custom_id"]) for line in found) == ["None", "a", "a", "b"]
    assert all(line["error"] is None for line in found)


def test_a_record_asks_for_errors_as_results_on_the_topic_of_the_batch(tmp_path: Path) -> None:
    batch = stage(tmp_path, ["a"], lane="interactive", tenant="acme")
    batch.run()
    [record] = batch.requests()
    assert record.key() is None
    assert dict(record.headers() or []) == {
        names.REPLY_TO: REPLY.encode(),
        names.ERRORS: b"result",
        names.LANE: b"interactive",
        names.TENANT: b"acme",
        ROW: f"{BATCH}/0".encode(),
    }


def test_errors_stand_beside_the_answers(tmp_path: Path) -> None:
    batch = stage(tmp_path, ["a", "b"], ordered=True)
    state = batch.run(lambda: answer_with_error(batch, "b"))
    assert [line["error"] for line in lines(tmp_path / "out.jsonl")] == [
        None,
        {"code": "invalid", "message": "the reason"},
    ]
    assert state.failed == 1


@pytest.mark.parametrize("ordered", [True, False])
def test_errors_go_to_a_file_of_their_own_where_one_is_named(tmp_path: Path, ordered: bool) -> None:
    batch = stage(tmp_path, ["a", "b", "c"], errors=tmp_path / "errors.jsonl", ordered=ordered)
    batch.run(lambda: answer_with_error(batch, "b"))
    assert sorted(ids(tmp_path / "out.jsonl")) == ["a", "c"]
    assert ids(tmp_path / "errors.jsonl") == ["b"]


def answer_with_error(batch: StageOfBatch, name: str) -> None:
    for record in batch.requests():
        batch.answer(record, INVALID if f'"{name}"'.encode() in (record.value() or b"") else None)


def test_a_dead_letter_of_a_row_is_its_outcome(tmp_path: Path) -> None:
    batch = stage(tmp_path, ["a"])

    def bury() -> None:
        headers: Headers = [
            (names.SOURCE, b"headrace.requests/0/0"),
            (names.ERROR_CLASS, b"too_large"),
            ("__dlq.errors.message", b"too much"),
            (ROW, f"{BATCH}/0".encode()),
        ]
        batch.put(Settings().outputs.dead_letters, b'{"custom_id": "a"}', headers)

    batch.run(bury)
    [line] = lines(tmp_path / "out.jsonl")
    assert (line["custom_id"], line["error"]) == ("a", {"code": "too_large", "message": "too much"})


def test_records_of_others_on_the_same_topics_are_passed_over(tmp_path: Path) -> None:
    batch = stage(tmp_path, ["a"])
    batch.put(REPLY, b"nonsense", [(ROW, b"b2/0")])
    batch.put(REPLY, b"nonsense", [])
    batch.put(Settings().outputs.dead_letters, b"nonsense", [(names.ERROR_CLASS, b"invalid")])
    batch.run()
    assert ids(tmp_path / "out.jsonl") == ["a"]


def test_a_second_answer_of_a_row_is_not_written(tmp_path: Path) -> None:
    batch = stage(tmp_path, ["a", "b"])
    turns = iter(range(9))

    def answer() -> None:
        first, second = batch.requests()
        batch.answer(first)
        if next(turns) > 2:
            batch.answer(second)

    batch.run(answer)
    assert len(lines(tmp_path / "out.jsonl")) == 2


@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_killed_at_any_turn_each_row_is_sent_once_and_written_once(
    tmp_path: Path, seed: int, ordered: bool
) -> None:
    dice = random.Random(seed)
    rows: list[str | None] = [f"r-{number}" for number in range(3 * feeder.CHUNK_ROWS_MAX + 7)]
    batch = stage(tmp_path, rows, ordered=ordered)
    answered: set[str] = set()

    def turn() -> None:
        """Some more are answered, in any order; then the process may die, and so may what it had open."""
        waiting = [one for one in batch.requests() if (one.value() or b"").decode() not in answered]
        for record in dice.sample(waiting, min(len(waiting), dice.randrange(1, 900))):
            answered.add((record.value() or b"").decode())
            batch.answer(record)
        if dice.random() < 0.4:
            raise Killed

    state: State | None = None
    while state is None:
        with suppress(Killed):
            state = batch.run(turn)
    assert len(batch.requests()) == len(rows)
    found = ids(tmp_path / "out.jsonl")
    assert (found if ordered else sorted(found)) == (rows if ordered else sorted(str(row) for row in rows))


def test_a_transaction_that_a_killed_process_left_open_is_sent_again_and_only_once(tmp_path: Path) -> None:
    batch = stage(tmp_path, ["a", "b"])
    sending = batch.log.producer("run-batch.b1")
    sending.start(5)

    def die(point: str) -> None:
        if point == "produced":
            raise Killed

    with suppress(Killed):
        sending.publish([Output("headrace.requests", None, b"{}", [])], [], None, reach=die)
    batch.run()
    assert sorted(ids(tmp_path / "out.jsonl")) == ["a", "b"]
    assert len(batch.requests()) == 2


@pytest.mark.parametrize("fault", list(Fault))
def test_a_chunk_whose_fate_is_unknown_is_looked_up_on_the_topic(tmp_path: Path, fault: Fault) -> None:
    batch = stage(tmp_path, ["a", "b", "c"])
    batch.log.inject("run-batch.b1", fault)
    batch.run()
    assert sorted(ids(tmp_path / "out.jsonl")) == ["a", "b", "c"]
    assert len(batch.requests()) == 3


def test_a_line_that_is_too_long_is_its_own_error_and_the_others_run(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    short = requests_file(tmp_path, ["a", "b"]).read_text().splitlines()
    path.write_text("\n".join([short[0], "x" * (17 * 1024 * 1024), "", short[1]]))
    batch = StageOfBatch(Wanted(path, tmp_path / "out.jsonl", ordered=True))
    batch.run()
    found = lines(tmp_path / "out.jsonl")
    assert [line["custom_id"] for line in found] == ["a", None, "b"]
    assert found[1]["error"]["code"] == "invalid"
    assert found[1]["error"]["message"].startswith("line 2 is longer than the ")
    assert len(batch.requests()) == 2


def test_what_is_shown_never_jumps_back(tmp_path: Path) -> None:
    batch = stage(tmp_path, [f"r-{number}" for number in range(50)])
    batch.run()
    done = [progress.done for progress in batch.show.seen]
    assert done == sorted(done)
    assert done[-1] == 50


def test_the_state_and_the_index_are_for_nobody_else(tmp_path: Path) -> None:
    batch = stage(tmp_path, ["a"], ordered=True)
    batch.run()
    private = [batch.folder.path / name for name in ("batch.json", "index", "arrived.jsonl")]
    assert [path.stat().st_mode & 0o777 for path in private] == [0o600] * 3


def test_a_line_names_the_fields_of_its_request_that_had_no_effect(tmp_path: Path) -> None:
    batch = stage(tmp_path, ["a"])

    def answer() -> None:
        [record] = batch.requests()
        source = Source(record.topic(), record.partition(), record.offset())
        facts = Facts(source, "sim", None, None, 1, ignored=("body.user",), ignored_count=1)
        value = answer_value(facts, "a", {"choices": []}, {"max_tokens": 7})
        batch.put(REPLY, value, [(ROW, f"{BATCH}/0".encode())])

    batch.run(answer)
    [line] = lines(tmp_path / "out.jsonl")
    assert line["headrace"] == {
        "ignored": {"paths": ["body.user"], "count": 1},
        "clamped": {"max_tokens": 7},
    }
