"""The checker accepts a flawless run and names every flaw: each violation of each invariant is detected."""

from __future__ import annotations

from dataclasses import replace

import pytest

from schemas.failure import ErrorClass, Stage
from schemas.headers import LANE, Header
from schemas.source import Source
from tests.chaos.check.evidence import Bites, Ends, Evidence, Input, Outcome, Progress
from tests.chaos.check.verdict import violations
from tests.chaos.inputs.plan import OrderKey

RESULTS, DEAD = ("results", 0), ("dead-letters", 0)
FIRST, SECOND, BROKEN, SPENT = (Source("in", 0, offset) for offset in range(4))
#: A producer's headers, and those of them that pass to a result.
SENT: tuple[Header, ...] = (("a", b"1"), (LANE, b"batch"), ("a", None))
PASSED: tuple[Header, ...] = (("a", b"1"), ("a", None))
SESSION = OrderKey("default", "s", "batch")
GROUP = ("g", "in", 0)


def flawless() -> Evidence:
    return Evidence(
        inputs={
            FIRST: Input(FIRST, None, SESSION, b"1", b"k", SENT),
            SECOND: Input(SECOND, None, SESSION, b"2"),
            BROKEN: Input(BROKEN, ErrorClass.INVALID, None, b"3", b"k", SENT, Stage.VALIDATE),
            SPENT: Input(SPENT, ErrorClass.TOO_LARGE, None, b"4", dies_at=Stage.PUBLISH),
        },
        outputs=[
            Outcome(FIRST, RESULTS, 0, None, "one", key=b"k", headers=PASSED, ran_ms=(1000, 1100)),
            Outcome(SECOND, RESULTS, 1, None, answer="two", ran_ms=(1101, 1200)),
            Outcome(BROKEN, DEAD, 0, "invalid", None, b"3", b"k", SENT, Stage.VALIDATE, worked=False),
            Outcome(SPENT, DEAD, 1, "too_large", original=b"4", stage=Stage.PUBLISH),
        ],
        usage=[FIRST, SECOND, SPENT],
        concurrent={RESULTS: [(0, 11), (1, 12)], DEAD: [(0, 13)]},
        final={RESULTS: [(0, 11), (1, 12)], DEAD: [(0, 13)]},
        progress={GROUP: [Progress(0, frozenset({1})), Progress(2, frozenset()), Progress(4, frozenset())]},
        ends={("in", 0): Ends(4, 4), RESULTS: Ends(3, 3)},
        expected={FIRST: "one", SECOND: "two"},
        bites=Bites(1, 1, 1, 1, {"kill": 1}),
    )


def broken(run: Evidence) -> set[str]:
    return {violation.invariant for violation in violations(run)}


def test_a_flawless_run_has_no_violations() -> None:
    assert violations(flawless()) == []


def test_i1_sees_a_lost_record() -> None:
    run = flawless()
    assert broken(replace(run, outputs=[*run.outputs[:2], run.outputs[3]])) == {"I1"}


def test_i1_sees_a_second_output() -> None:
    run = flawless()
    assert broken(replace(run, outputs=[*run.outputs, replace(run.outputs[2], offset=7)])) == {"I1"}


def test_i1_sees_a_result_beside_a_dead_letter() -> None:
    run = flawless()
    both = Outcome(FIRST, DEAD, 1, "engine", original=b"1")
    assert "I1" in broken(replace(run, outputs=[*run.outputs, both]))


def test_i2_sees_an_output_for_an_aborted_input() -> None:
    run = flawless()
    ghost = Outcome(Source("in", 0, 9), DEAD, 8, "invalid", original=b"boo", worked=False)
    assert broken(replace(run, outputs=[*run.outputs, ghost])) == {"I2"}


@pytest.mark.parametrize(
    "usage",
    [
        pytest.param([FIRST, SPENT], id="an answer's is missing"),
        pytest.param([FIRST, SECOND, SECOND, SPENT], id="an answer's is there twice"),
        pytest.param([FIRST, SECOND], id="a worker's dead letter has none"),
        pytest.param([FIRST, SECOND, SPENT, SPENT], id="a worker's dead letter has two"),
        pytest.param([FIRST, SECOND, SPENT, BROKEN], id="a dispatcher's dead letter has one"),
    ],
)
def test_i1_sees_usage_that_is_missing_or_too_much(usage: list[Source]) -> None:
    assert broken(replace(flawless(), usage=usage)) == {"I1"}


@pytest.mark.parametrize("flaw", [[(0, 11)], [(1, 12), (0, 11)], [(0, 11), (1, 99)]])
def test_i3_sees_readers_that_disagree(flaw: list[tuple[int, int]]) -> None:
    run = flawless()
    assert broken(replace(run, concurrent={**run.concurrent, RESULTS: flaw})) == {"I3"}


@pytest.mark.parametrize("last", [Progress(3, frozenset()), Progress(4, frozenset({5}))])
def test_i4_sees_a_group_that_is_not_at_the_end(last: Progress) -> None:
    assert broken(replace(flawless(), progress={GROUP: [last]})) == {"I4"}


def test_i4_sees_a_group_that_never_committed() -> None:
    assert broken(replace(flawless(), progress={GROUP: []})) == {"I4"}


@pytest.mark.parametrize(
    "samples",
    [
        [Progress(3, frozenset()), Progress(2, frozenset()), Progress(4, frozenset())],
        [Progress(0, frozenset({2})), Progress(1, frozenset()), Progress(4, frozenset())],
    ],
)
def test_i5_sees_progress_that_shrinks(samples: list[Progress]) -> None:
    assert broken(replace(flawless(), progress={GROUP: samples})) == {"I5"}


def test_i6_sees_a_hanging_transaction() -> None:
    run = flawless()
    assert broken(replace(run, ends={**run.ends, RESULTS: Ends(2, 3)})) == {"I6"}


def test_i7_sees_a_wrong_answer() -> None:
    run = flawless()
    wrong = replace(run.outputs[0], answer="three")
    assert broken(replace(run, outputs=[wrong, *run.outputs[1:]])) == {"I7"}


def test_i7_sees_a_dead_letter_without_its_original() -> None:
    run = flawless()
    flawed = [*run.outputs[:2], replace(run.outputs[2], original=b""), run.outputs[3]]
    assert broken(replace(run, outputs=flawed)) == {"I7"}


@pytest.mark.parametrize("place", [pytest.param(0, id="result"), pytest.param(2, id="dead letter")])
@pytest.mark.parametrize("flaw", ["key", "header lost", "header changed", "headers in another order"])
def test_i7_sees_a_key_or_headers_that_are_not_the_producer_s(place: int, flaw: str) -> None:
    outputs = list(flawless().outputs)
    first, *rest = outputs[place].headers
    flawed = {
        "key": replace(outputs[place], key=b"other"),
        "header lost": replace(outputs[place], headers=tuple(rest)),
        "header changed": replace(outputs[place], headers=(("a", b"2"), *rest)),
        "headers in another order": replace(outputs[place], headers=(*rest, first)),
    }
    outputs[place] = flawed[flaw]
    assert broken(replace(flawless(), outputs=outputs)) == {"I7"}


def test_i7_sees_a_control_header_that_came_through_to_a_result() -> None:
    run = flawless()
    leaky = replace(run.outputs[0], headers=SENT)
    assert broken(replace(run, outputs=[leaky, *run.outputs[1:]])) == {"I7"}


def test_i7_sees_a_dead_letter_of_another_stage() -> None:
    run = flawless()
    flawed = [*run.outputs[:3], replace(run.outputs[3], stage=Stage.ENGINE)]
    assert broken(replace(run, outputs=flawed)) == {"I7"}


def test_i7_sees_an_unplanned_dead_letter() -> None:
    run = flawless()
    dead = Outcome(FIRST, DEAD, 1, "engine", original=b"1", key=b"k", headers=SENT)
    assert broken(replace(run, outputs=[dead, *run.outputs[1:]])) == {"I7"}


@pytest.mark.parametrize(
    "bites", [Bites(0, 1, 1, 1), Bites(1, 0, 1, 1), Bites(1, 1, 0, 1), Bites(1, 1, 1, 0)]
)
def test_i8_calls_a_run_void_when_a_fault_did_not_bite(bites: Bites) -> None:
    assert broken(replace(flawless(), bites=bites)) == {"I8"}


def test_i8_asks_for_a_scenario_s_own_fault() -> None:
    assert [v.invariant for v in violations(flawless(), required=("stray_end_txn", "kill"))] == ["I8"]


def test_i9_sees_poison_for_an_innocent() -> None:
    run = flawless()
    convicted = Outcome(FIRST, DEAD, 1, "poison", original=b"1", key=b"k", headers=SENT)
    assert broken(replace(run, outputs=[convicted, *run.outputs[1:]])) == {"I9"}


@pytest.mark.parametrize("early", [(900, 950), (1050, 1200)])
def test_i9_sees_runs_out_of_order_or_two_at_a_time_where_order_is_serial(early: tuple[int, int]) -> None:
    run = flawless()
    later = replace(run.outputs[1], ran_ms=early)
    run = replace(run, outputs=[run.outputs[0], later, *run.outputs[2:]])
    assert broken(replace(run, order="serial")) == {"I9"}
    assert broken(run) == set()


def out_of_order(run: Evidence) -> Evidence:
    """The second answer of a session lies before its first."""
    first, second = run.outputs[:2]
    return replace(run, outputs=[replace(first, offset=1), replace(second, offset=0), *run.outputs[2:]])


@pytest.mark.parametrize(("order", "found"), [("session", {"I9"}), ("serial", {"I9"}), ("none", set())])
def test_i9_sees_outputs_out_of_order_unless_there_is_none(order: str, found: set[str]) -> None:
    assert broken(replace(out_of_order(flawless()), order=order)) == found


def test_i9_sees_outputs_out_of_order_on_different_topics_by_their_usage() -> None:
    run = flawless()
    assert broken(replace(run, usage=[SECOND, FIRST, SPENT])) == {"I9"}
    assert broken(replace(run, usage=[SECOND, FIRST, SPENT], order="none")) == set()


def test_i9_asks_no_order_of_records_outside_a_session() -> None:
    run = flawless()
    outside = {source: replace(found, order=None) for source, found in run.inputs.items()}
    assert broken(replace(out_of_order(run), inputs=outside)) == set()
