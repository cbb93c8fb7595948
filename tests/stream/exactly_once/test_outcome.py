"""The outcome machine against a model: whatever becomes of transactions, each answer is published once, in some form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream.background_call import Meanwhile, nothing
from stream.errors import LogError, LogFenced, LogTimeout
from stream.exactly_once.abort_policy import Action, Contents
from stream.exactly_once.halving import Halving
from stream.exactly_once.outcome import RECONCILE_S_MAX, OutcomeMachine
from stream.log import reasons
from stream.log.base import (
    Aborted,
    Fenced,
    GroupStamp,
    OffsetCommit,
    Outcome,
    Output,
    Success,
    Unknown,
    nowhere,
)
from stream.retry import BackOff

CAP = 8
#: What becomes of a transaction whose outputs are all good.
FATES = ["success", "aborted", "unknown, committed", "unknown, aborted"]


@dataclass
class ModelLog:
    """A log with one fate for each transaction, and outputs that it does not take."""

    fates: list[str]
    refused: set[bytes]
    published: list[bytes] = field(default_factory=list)
    #: An unknown outcome is under way until a new client starts.
    open: bool = False
    lives: int = 1

    def start(self, timeout_s: float) -> None:
        assert timeout_s >= 1
        self.open, self.lives = False, self.lives + 1

    def publish(
        self,
        outputs: Sequence[Output],
        offsets: Sequence[OffsetCommit],
        group: GroupStamp | None,
        *,
        attribute: bool = False,
        reach: Callable[[str], None] = nowhere,
        while_waiting: Meanwhile = nothing,
        life: int | None = None,
    ) -> Outcome:
        assert not self.open, "begun while nobody knows what became of the last one"
        reach("produced")
        while_waiting()
        values = [output.value or b"" for output in outputs]
        bad = {place: reasons.TOO_LARGE for place, value in enumerate(values) if value in self.refused}
        if bad:
            return Aborted(reasons.TOO_LARGE, bad if attribute else {}, delivery=True)
        fate = self.fates.pop(0) if self.fates else "success"
        if fate in ("success", "unknown, committed"):
            self.published += values
        self.open = fate.startswith("unknown")
        return Unknown("timed_out") if self.open else Success() if fate == "success" else Aborted(fate, {})

    def is_fenced(self, group: GroupStamp) -> bool:
        raise NotImplementedError

    def close(self) -> None:
        """Nothing is held."""


@dataclass
class Answers:
    """A role of the simplest kind: a list of answers, of which a prefix goes."""

    waiting: list[bytes]
    halving: Halving = field(default_factory=lambda: Halving(CAP))
    actions: list[Action] = field(default_factory=list)


class Prefix:
    """Its transaction."""

    offsets: Sequence[OffsetCommit] = ()

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self.carried = answers.waiting[: answers.halving.cap]
        self.outputs = [Output("out", None, value, []) for value in self.carried]
        self.contents = Contents(len(self.carried), attributed=answers.halving.searching)

    def committed(self) -> None:
        del self.answers.waiting[: len(self.carried)]
        self.answers.halving.succeeded()

    def aborted(self, outcome: Aborted, action: Action) -> None:
        self.answers.actions.append(action)
        if action is Action.NARROW:
            self.answers.halving.failed(len(self.carried))
        elif action is Action.GIVE_UP_ANSWER:
            self.answers.waiting[0] = b"dead " + self.carried[0]

    def reconciled(self, found: set[bytes]) -> bool:
        self.answers.waiting = [value for value in self.answers.waiting if value not in found]
        return found.issuperset(self.carried)


class Visible:
    """The oracle: what readers of the model's log see."""

    def __init__(self, log: ModelLog) -> None:
        self.log = log

    def committed(self, offsets: Sequence[OffsetCommit], deadline_s: float) -> set[bytes]:
        assert not self.log.open, "asked while a transaction may still be under way"
        assert deadline_s > 0
        return set(self.log.published)


def machine(log: ModelLog, back_off: BackOff | None = None) -> OutcomeMachine[set[bytes]]:
    return OutcomeMachine(log, Visible(log), back_off or BackOff(0.05, 1.0), clock_s=lambda: 1.0)


@given(
    st.integers(0, 40),
    st.sets(st.integers(0, 39), max_size=6),
    st.lists(st.sampled_from(FATES), max_size=40),
)
def test_nothing_is_lost_and_nothing_comes_twice(count: int, bad: set[int], fates: list[str]) -> None:
    given_ = [b"%d" % number for number in range(count)]
    refused = {b"%d" % number for number in bad}
    log, answers = ModelLog(list(fates), refused), Answers(list(given_))
    settling = machine(log)
    for _ in range(400):
        if not answers.waiting:
            break
        pending = Prefix(answers)
        settling.settle(pending, settling.publish(pending, None))
    assert log.published == [b"dead " + value if value in refused else value for value in given_]
    assert log.lives == 1 + sum(fate.startswith("unknown") for fate in fates[: len(fates) - len(log.fates)])


def test_what_is_committed_is_said_of_success_and_of_an_unknown_outcome_that_was_committed() -> None:
    said = []
    for fate in FATES:
        log = ModelLog([fate], set())
        pending = Prefix(Answers([b"a", b"b"]))
        said.append(machine(log).settle(pending, machine(log).publish(pending, None)))
    assert said == [True, False, True, False]


def test_failures_in_a_row_double_the_pause_and_a_success_ends_it() -> None:
    back_off = BackOff(0.05, 1.0)
    log = ModelLog(["aborted", "unknown, aborted", "aborted", "success"], set())
    settling, answers, pauses = machine(log, back_off), Answers([b"a"]), []
    for _ in range(4):
        pending = Prefix(answers)
        settling.settle(pending, settling.publish(pending, None))
        pauses.append(back_off.pause_s)
    assert pauses == [0.05, 0.1, 0.2, 0.0]


def test_a_search_for_the_guilty_answer_does_not_wait() -> None:
    back_off = BackOff(0.05, 1.0)
    log, answers = ModelLog([], {b"bad"}), Answers([b"a", b"bad"])
    settling = machine(log, back_off)
    while answers.waiting:
        pending = Prefix(answers)
        settling.settle(pending, settling.publish(pending, None))
        assert back_off.pause_s == 0
    assert answers.actions == [Action.NARROW, Action.GIVE_UP_ANSWER]


def test_who_is_fenced_ends() -> None:
    with pytest.raises(LogFenced):
        machine(ModelLog([], set())).settle(Prefix(Answers([b"a"])), Fenced("fenced"))


def test_failures_that_go_on_for_too_long_end_the_process() -> None:
    back_off = BackOff(0.05, 1.0, give_up_s=120)
    back_off.failed(10, "not_coordinator")
    back_off.failed(130, "not_coordinator")
    with pytest.raises(LogError, match="for 121 s: not_coordinator"):
        back_off.failed(131, "not_coordinator")


def test_a_client_that_cannot_be_had_ends_the_process_in_time() -> None:
    now_s = 0.0

    class Silent(ModelLog):
        """Its broker is away."""

        def start(self, timeout_s: float) -> None:
            nonlocal now_s
            now_s += timeout_s
            raise LogTimeout("init")

    log = Silent([], set())
    settling = OutcomeMachine(log, Visible(log), BackOff(0.05, 1.0), clock_s=lambda: now_s)
    with pytest.raises(LogTimeout):
        settling.settle(Prefix(Answers([b"a"])), Unknown("timed_out"))
    assert now_s == RECONCILE_S_MAX
