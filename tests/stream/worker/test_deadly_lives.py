"""Random lives with deaths and a small poison limit: crashes, kills inside transactions, joins and leaves, aborts.

Whatever happens each input has one output, and a record is convicted only as the rule allows: a process died while it
ran alone, named by its map, and had not ended. Those are crashes at any time, so innocents may be convicted; but never
one that had not started, or had ended, unless another slot took over, which cannot know.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from schemas.source import Source
from stream.config.settings import Limits
from tests.stream.worker.house import House, Worker, header
from tests.stream.worker.life import Life
from workers.endpoint import OrderName
from workers.evidence import Evidence


class DeadlyLife(Life):
    """Each death is looked at: who ran then, named and alone."""

    def __init__(self, seed: int, order: OrderName, journals: Path, deaths_max: int) -> None:
        self._journals = journals
        self._deaths_max = deaths_max
        #: A process died while it ran alone.
        self.suspected: set[str] = set()
        #: A process died that had named it, whether it ran or not.
        self.named: set[str] = set()
        super().__init__(seed, order)

    def make_house(self) -> House:
        rng = self.rng
        return House(
            limits=Limits(open_records_max=rng.choice((8, 24, 64)), txn_records_max=rng.choice((1, 4, 100))),
            session_timeout_s=0.05,
            poison_deaths_max=self._deaths_max,
            slots=rng.choice((2, 6)),
            order=self.order,
            journals=self._journals,
        )

    def start(self, slot: int) -> None:
        before = self.workers.get(slot)
        if before is not None:
            self._died(before)
        super().start(slot)

    def _died(self, worker: Worker) -> None:
        self.suspected |= {str(source) for source in named_alone(worker)}
        evidence = worker.parts.journal.evidence
        assert isinstance(evidence, Evidence)
        if evidence.trial is not None:
            self.named.add(evidence.trial.source)

    def _leave(self, slot: int) -> None:
        """Where a fault meets its last commit it leaves as if it had died."""
        worker = self.workers[slot]
        super()._leave(slot)
        self._died(worker)

    def troubles(self) -> tuple[str, ...]:
        """A lost session that another takes over cannot be told from a death: it has a rule of its own."""
        return ("expire", "kill", "kill")

    def lose(self) -> None:
        self.crash()

    @property
    def convicted(self) -> set[str]:
        letters = self.house.dead_letters
        poison = [each for each in letters if header(each, "headrace-error-class") == "poison"]
        return {header(each, "headrace-source") for each in poison}


class LonelyLife(DeadlyLife):
    """One slot alone: each process takes over from its own predecessor."""

    def join_or_leave(self) -> None:
        self.crash()


def named_alone(worker: Worker) -> list[Source]:
    """A call that was adopted after a revoke was named once, and is so no longer."""
    evidence = worker.parts.journal.evidence
    assert isinstance(evidence, Evidence)
    if evidence.trial is None or not evidence.trial.running:
        return []
    named = [
        call.source for call in worker.runner.inside.values() if str(call.source) == evidence.trial.source
    ]
    assert not named or len(worker.runner.inside) == 1, "something ran beside a record that was named"
    return named


@pytest.mark.parametrize("order", ["session", "serial", "none"])
@pytest.mark.parametrize("deaths_max", [1, 2, 3])
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_who_did_not_run_alone_at_a_death_is_not_convicted(
    order: OrderName, deaths_max: int, seed: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        life = LonelyLife(seed, order, Path(folder), deaths_max)
        life.run(80)
        life.check()
        assert life.convicted <= life.suspected


@pytest.mark.parametrize("order", ["session", "serial", "none"])
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_who_was_not_named_at_a_death_is_not_convicted_whoever_takes_over(
    order: OrderName, seed: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        life = DeadlyLife(seed, order, Path(folder), 2)
        life.run(80)
        life.check()
        assert life.convicted <= life.suspected | life.named


class KillerLife(DeadlyLife):
    """Nothing dies of itself, but a few records kill whoever runs them."""

    def reach(self, _point: str) -> None:
        """No trouble."""

    def __init__(self, seed: int, order: OrderName, journals: Path, deaths_max: int) -> None:
        self.killers: set[str] = set()
        super().__init__(seed, order, journals, deaths_max)

    def put(self) -> None:
        before = set(self.sources)
        super().put()
        made = sorted(set(self.sources) - before)
        if self.rng.random() < 0.2:
            self.killers.add(str(self.rng.choice(made)))

    def crash(self) -> None:
        """Only by a killer."""

    def turn(self) -> None:
        super().turn()
        for slot, worker in list(self.workers.items()):
            if any(str(call.source) in self.killers for call in worker.runner.inside.values()):
                worker.sockets.consumer.kill()  # type: ignore[attr-defined]
                self.start(slot)


@pytest.mark.parametrize("order", ["session", "serial", "none"])
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32))
@example(seed=612408051)  # a call that ran alone is adopted after a rebalance, and others start beside it
def test_records_that_kill_are_convicted_and_nobody_else(order: OrderName, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        life = KillerLife(seed, order, Path(folder), 3)
        life.run(60)
        life.check()
        assert life.convicted <= life.killers
