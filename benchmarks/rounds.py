"""Interleaved rounds: machines are noisy, so rivals take turns and only ratios inside a round count."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True)
class Comparison:
    """Figures of each contender, one a round, in the same unit (more is better)."""

    unit: str
    figures: Mapping[str, tuple[float, ...]]

    def median(self, name: str) -> float:
        return median(self.figures[name])

    def ratio(self, name: str, rival: str) -> float:
        """Median over the rounds of the ratio inside each round."""
        return median(a / b for a, b in zip(self.figures[name], self.figures[rival], strict=True))

    def lines(self, name: str, bars: Mapping[str, float]) -> list[str]:
        """For people: every contender, then `name` against each rival of `bars` (rival -> least ratio)."""
        rows = [
            f"  {who:<28} median {self.median(who):>12,.1f} {self.unit}   rounds "
            + " ".join(f"{figure:,.1f}" for figure in figures)
            for who, figures in self.figures.items()
        ]
        for rival, bar in bars.items():
            ratio = self.ratio(name, rival)
            rows.append(
                f"  {name} / {rival}: {ratio:.3f} (bar {bar:g}: {'met' if ratio >= bar else 'MISSED'})"
            )
        return rows


def interleave(rounds: int, unit: str, contenders: Mapping[str, Callable[[], float]]) -> Comparison:
    """Each contender once a round, in the given order, `rounds` times."""
    figures: dict[str, list[float]] = {name: [] for name in contenders}
    for place in range(rounds):
        for name, run in contenders.items():
            figures[name].append(run())
            print(f"round {place + 1}/{rounds} {name}: {figures[name][-1]:,.1f} {unit}", flush=True)
    return Comparison(unit, {name: tuple(values) for name, values in figures.items()})
