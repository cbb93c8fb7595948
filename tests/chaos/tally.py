"""The figures of a hunt, and whether it proves anything: I8, asked of the whole hunt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from stream.fault_points import POINTS
from tests.chaos.check.bites import ALWAYS
from tests.chaos.play.judge import Judgement
from tests.chaos.proxy.faults import Action

#: A hunt of so many minutes, or so many rounds, must have shown all of WHOLE; a shorter one anything at all.
WHOLE_MINUTES: Final = 10.0
WHOLE_ROUNDS: Final = 5
#: What -> the names of bites of which one at least must have happened.
WHOLE: Final[Mapping[str, tuple[str, ...]]] = {
    **{name: (name,) for name in (*ALWAYS, "worker_kill", "dispatcher_kill", "too_large", "aborted_input")},
    "fault points": tuple(f"{kind}_at_{point}" for kind in ("worker", "dispatcher") for point in POINTS),
    "lost or late EndTxn": (Action.DROP_RESPONSE, Action.SEVER_RESPONSE, Action.DELAY_RESPONSE, Action.STRAY),
    "kills around EndTxn": (Action.KILL_BEFORE, Action.KILL_AFTER),
    "zombies": ("zombie", *(f"freeze_at_{point}" for point in POINTS)),
    "members that come and go": ("clean_restart", "join", "leave", "die_in_transaction"),
    "a network or broker that goes": (
        "severed",
        "network_partition",
        "slow_network",
        "broker_killed",
        "broker_stopped",
    ),
}


class Tally:
    """Sums over the rounds."""

    def __init__(self) -> None:
        self.rounds = self.inputs = self.violations = 0
        self.minutes = 0.0
        self.bites: Counter[str] = Counter()
        self.surprises: Counter[str] = Counter()
        self.failed_seeds: list[int] = []

    def add(self, seed: int, judgement: Judgement) -> None:
        bites = judgement.evidence.bites
        self.rounds += 1
        self.inputs += len(judgement.evidence.inputs)
        self.violations += len(judgement.violations)
        self.surprises.update(judgement.surprises)
        self.bites += Counter(bites.faults) + Counter({name: getattr(bites, name) for name in ALWAYS})
        if judgement.violations:
            self.failed_seeds.append(seed)

    @property
    def missing(self) -> list[str]:
        """What never happened, and should have in a hunt of this length."""
        if self.minutes < WHOLE_MINUTES and self.rounds < WHOLE_ROUNDS:
            return [] if self.bites.total() else ["anything"]
        return [what for what, names in WHOLE.items() if not any(self.bites[name] for name in names)]

    @property
    def is_red(self) -> bool:
        """Something is wrong, or nothing is proved."""
        return bool(self.violations or self.missing)

    def report(self) -> str:
        bitten = "\n".join(f"  {name:40} {count}" for name, count in sorted(self.bites.items()))
        return (
            f"{self.rounds} rounds, {self.inputs} inputs, {self.violations} violations"
            f"{f' in rounds {self.failed_seeds}' if self.failed_seeds else ''}, surprises"
            f" {dict(self.surprises) or 'none'}; what bit:\n{bitten}"
            f"{chr(10) + 'VOID: never happened: ' + ', '.join(self.missing) if self.missing else ''}"
        )
