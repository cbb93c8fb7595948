"""The guard before the engine, with its real child process."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import signal
from collections.abc import Coroutine, Iterator
from typing import Any, TypeVar

import psutil
import pytest

from schemas.failure import ErrorClass
from tests.walks import children_called, zombie
from workers.errors import RequestRejected, TransientEngineError
from workers.structured.child_process import ChildDied, ChildLimits, ChildProcess
from workers.structured.effort import IN_PLACE_CHARS_MAX
from workers.structured.guard import TEXT_CHARS_MAX, Guard
from workers.structured.structure import Kind, Structure

Result = TypeVar("Result")
#: Two seconds of CPU: what explodes takes minutes, what does not takes milliseconds.
LIMITS = ChildLimits(cpu_s_max=2, memory_bytes_max=512 * 1024**2)
EXPLODING = Structure(Kind.REGEX, "(a?b?c?)" * 30_000)


class Stage:
    """A guard and its child on a loop of their own."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self.child = ChildProcess(LIMITS)
        self.guard = Guard(self.child)

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        return self._runner.run(work)

    def check(self, kind: Kind, text: str) -> None:
        self.run(self.guard.check(Structure(kind, text)))

    def close(self) -> None:
        self.run(self.child.stop())
        self._runner.close()


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    if importlib.util.find_spec("xgrammar") is None and not os.environ.get("CI"):
        pytest.skip("xgrammar comes with vLLM, which is not installed")
    stage = Stage()
    yield stage
    stage.close()


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Kind.REGEX, "[a-z]{2,5}"),
        (Kind.REGEX, "(a+)+b"),
        (Kind.GRAMMAR, 'root ::= "yes" | "no"'),
        (Kind.GRAMMAR, 'start: "yes" | "no"'),
        (Kind.JSON, '{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}'),
        (Kind.JSON, '{"type": "array", "items": {"type": "integer"}, "uniqueItems": true}'),
        (Kind.JSON_OBJECT, ""),
        (Kind.CHOICE, '["yes", "no"]'),
    ],
)
def test_what_can_be_compiled_passes(stage: Stage, kind: Kind, text: str) -> None:
    stage.check(kind, text)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Kind.REGEX, "((("),
        (Kind.REGEX, "(?=a)b"),
        (Kind.REGEX, "a" * (TEXT_CHARS_MAX + 1)),
        (Kind.GRAMMAR, "root ::= missing"),
        (Kind.GRAMMAR, "start: %%%"),
        (Kind.JSON, '{"type": 12}'),
        (Kind.JSON, '{"type": "array", "items": false, "minItems": 3}'),
    ],
)
def test_what_cannot_be_compiled_is_invalid_and_says_why(stage: Stage, kind: Kind, text: str) -> None:
    for _again in range(2):
        with pytest.raises(RequestRejected) as caught:
            stage.check(kind, text)
        assert caught.value.failure.error_class is ErrorClass.INVALID
        assert str(kind) in str(caught.value) or "schema" in str(caught.value)


def test_the_reason_is_one_line_without_the_compilers_clock_and_source_line(stage: Stage) -> None:
    with pytest.raises(RequestRejected) as caught:
        stage.check(Kind.REGEX, "([a-z")
    assert str(caught.value).isprintable()
    assert "the regex structure cannot be used: Regex parsing error at position" in str(caught.value)


def test_a_regex_that_explodes_is_invalid_and_the_next_structure_passes(stage: Stage) -> None:
    with pytest.raises(RequestRejected, match="too much time or memory"):
        stage.check(EXPLODING.kind, EXPLODING.text)
    stage.check(Kind.REGEX, "after[0-9]")


def test_a_verdict_is_remembered_and_the_least_used_is_forgotten(stage: Stage) -> None:
    guard = Guard(stage.child, verdicts_max=2)
    first, second, third = (Structure(Kind.REGEX, f"r{n}") for n in range(3))
    for structure in (first, second, first, third):
        stage.run(guard.check(structure))
    assert guard.known(first)
    assert guard.known(third)
    assert not guard.known(second)


def test_requests_that_share_a_structure_wait_for_one_compilation() -> None:
    class Counting(ChildProcess):
        asked = 0

        async def fault(self, work: dict[str, Any]) -> str | None:
            self.asked += 1
            await asyncio.sleep(0.01)
            return None

    child = Counting(LIMITS)
    guard = Guard(child)

    async def many() -> None:
        await asyncio.gather(*(guard.check(Structure(Kind.REGEX, "shared")) for _ in range(100)))

    asyncio.run(many())
    assert child.asked == 1


def test_the_request_that_asked_first_may_be_cancelled_and_the_others_are_answered(stage: Stage) -> None:
    structure = Structure(Kind.REGEX, "first-goes-away")

    async def both() -> None:
        first = asyncio.create_task(stage.guard.check(structure))
        await asyncio.sleep(0)
        second = asyncio.create_task(stage.guard.check(structure))
        await asyncio.sleep(0)
        first.cancel()
        await second

    stage.run(both())
    assert stage.guard.known(structure)


def test_an_answer_is_judged_by_a_schemas_regexes_in_the_child(stage: Stage) -> None:
    structure = Structure(Kind.JSON, json.dumps({"type": "string", "pattern": "^(a+)+$"}))
    assert stage.run(stage.guard.fault_of(structure, '"aaa"')) is None
    assert "breaks its schema" in str(stage.run(stage.guard.fault_of(structure, '"b"')))
    endless = json.dumps("a" * 60 + "!")
    assert "too much time" in str(stage.run(stage.guard.fault_of(structure, endless)))


@pytest.mark.parametrize("answer", ['{"a": tru', "[" * 3_000, "[" * 3_000 + "]" * 3_000])
def test_an_answer_that_is_not_json_has_a_fault_also_in_the_child(stage: Stage, answer: str) -> None:
    structure = Structure(Kind.JSON, json.dumps({"type": "string", "pattern": "a+"}))
    assert "the answer is not JSON" in str(stage.run(stage.guard.fault_of(structure, answer)))


def test_a_long_answer_line_puts_nobody_elses_verdict_out_of_step(stage: Stage) -> None:
    """Its place in the answer, of any length, would pass the bound of a line."""
    pattern = Structure(Kind.JSON, json.dumps({"additionalProperties": {"pattern": "^good$"}}))
    hostile = json.dumps({"中" * 30_000: "bad"})
    assert len(str(stage.run(stage.guard.fault_of(pattern, hostile)))) < 1_000
    for _ in range(2):
        assert stage.run(stage.guard.fault_of(pattern, '{"a": "good"}')) is None
        assert "breaks its schema" in str(stage.run(stage.guard.fault_of(pattern, '{"a": "evil"}')))


def test_a_child_that_answers_nonsense_is_replaced(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    pattern = Structure(Kind.JSON, json.dumps({"type": "string", "pattern": "^good$"}))

    async def too_long(_reader: object) -> bytes:
        raise ValueError("Separator is not found, and chunk exceed the limit")

    with monkeypatch.context() as patch:
        patch.setattr(asyncio.StreamReader, "readline", too_long)
        with pytest.raises(TransientEngineError, match="answers nonsense"):
            stage.run(stage.guard.fault_of(pattern, '"good"'))
    assert stage.run(stage.guard.fault_of(pattern, '"good"')) is None
    assert "breaks its schema" in str(stage.run(stage.guard.fault_of(pattern, '"evil"')))


def test_a_schema_that_doubles_forty_times_ends_its_own_record_only(stage: Stage) -> None:
    levels = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n - 1}"}] * 2} for n in range(1, 41)}
    schema = {"$defs": {"a0": {"type": "string"}, **levels}, "$ref": "#/$defs/a40"}
    structure = Structure(Kind.JSON, json.dumps(schema))
    assert "too much time" in str(stage.run(stage.guard.fault_of(structure, '"x"')))


@pytest.mark.parametrize(
    ("schema", "why"),
    [({"$ref": "#/nowhere"}, "cannot be applied"), ({"$ref": "http://x.invalid/"}, "cannot be applied")],
)
def test_a_schema_that_cannot_be_applied_is_invalid_also_in_the_child(
    stage: Stage, schema: object, why: str
) -> None:
    with pytest.raises(RequestRejected, match=why) as caught:
        stage.run(stage.guard.fault_of(Structure(Kind.JSON, json.dumps(schema)), "{}"))
    assert caught.value.failure.error_class is ErrorClass.INVALID


def test_a_long_schema_is_checked_in_the_child(stage: Stage) -> None:
    long = {"enum": ["x" * IN_PLACE_CHARS_MAX]}
    stage.check(Kind.JSON, json.dumps(long))
    with pytest.raises(RequestRejected, match="is not a JSON schema"):
        stage.check(Kind.JSON, json.dumps({**long, "type": 12}))


def test_a_fork_that_was_killed_at_rest_costs_no_verdict_and_shifts_none(stage: Stage) -> None:
    stage.check(Kind.REGEX, "alive")
    worker, _zygote = _processes()
    worker.kill()
    psutil.wait_procs([worker], timeout=60)
    for text in ("(((", "[a-z"):
        with pytest.raises(RequestRejected, match="Regex parsing error"):
            stage.check(Kind.REGEX, text)
    stage.check(Kind.REGEX, "b+")


class Killed(ChildProcess):
    """Its fork dies of these signals, each in the middle of the work, and then gives a verdict."""

    def __init__(self, *signals: int) -> None:
        super().__init__(LIMITS)
        self.answers: list[dict[str, Any] | None] = [{"died": -each} for each in signals]

    async def _ask(self, work: dict[str, Any]) -> dict[str, Any] | None:
        return self.answers.pop(0) if self.answers else {"fault": None}


def test_work_whose_fork_is_killed_from_outside_is_done_again(stage: Stage) -> None:
    assert stage.run(Killed(signal.SIGKILL).fault({})) is None


@pytest.mark.parametrize("signals", [(signal.SIGXCPU,), (signal.SIGKILL, signal.SIGKILL)])
def test_work_that_meets_its_limit_or_is_killed_time_and_again_is_to_blame(
    stage: Stage, signals: tuple[int, ...]
) -> None:
    with pytest.raises(ChildDied):
        stage.run(Killed(*signals).fault({}))


@pytest.mark.parametrize("ended", [1, 2])
def test_a_child_that_ended_at_rest_and_a_kill_at_work_condemn_no_structure(stage: Stage, ended: int) -> None:
    """Each for itself is no reason to doubt the work."""
    child = Killed(signal.SIGKILL)
    child.answers[ended - 1 : ended - 1] = [None]
    assert stage.run(child.fault({})) is None


def test_a_child_that_ends_at_rest_time_and_again_is_nobodys_fault(stage: Stage) -> None:
    child = Killed()
    child.answers = [None] * 2
    with pytest.raises(TransientEngineError, match="has ended"):
        stage.run(child.fault({}))


def test_a_zombie_of_somebody_else_is_passed_over(stage: Stage) -> None:
    stage.check(Kind.REGEX, "beside-a-zombie")
    with zombie() as pid:
        assert pid not in [process.pid for process in _processes()]


def test_a_child_that_was_killed_is_started_again(stage: Stage) -> None:
    stage.check(Kind.REGEX, "alive")
    _worker, zygote = _processes()
    zygote.kill()
    psutil.wait_procs([zygote], timeout=60)
    stage.check(Kind.REGEX, "started-again")


def test_nothing_is_left_when_the_child_is_stopped(stage: Stage) -> None:
    stage.check(Kind.REGEX, "the-last-one")
    worker, zygote = _processes()
    stage.run(stage.child.stop())
    _gone, left = psutil.wait_procs([worker, zygote], timeout=60)
    assert left == []


def _processes() -> tuple[psutil.Process, psutil.Process]:
    """The fork that works, and the process that it was forked from."""
    found = children_called("compile_child")
    zygote = next(child for child in found if child.ppid() == os.getpid())
    worker = next(child for child in found if child.ppid() == zygote.pid)
    return worker, zygote
