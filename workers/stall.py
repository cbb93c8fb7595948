"""When a silent engine counts as hung: calls run, none ends, and no step is made."""

from __future__ import annotations

from workers.retry_policy import RetryPolicy


class StallWatch:
    """Fed now and then with what the engine did; says whether it hangs. Time comes in, so it is a plain value."""

    def __init__(self, rules: RetryPolicy, now_s: float) -> None:
        self._rules = rules
        self._seen: tuple[int, int] | None = None
        self._last_s = now_s
        self._step_s = 0.0
        self._doublings = 0

    def hangs(self, *, steps: int, ended: int, running: int, now_s: float) -> bool:
        """`steps` and `ended` (calls) are running totals; `running` calls are inside the engine now."""
        if running == 0 or self._seen is None or (steps, ended) != self._seen:
            self._learn(steps, running, now_s)
            self._seen = (steps, ended)
            self._last_s = now_s
            return False
        hangs = now_s - self._last_s > self.patience_s
        if hangs:
            self._doublings = min(self._doublings + 1, self._rules.stall_doublings_max)
        return hangs

    def begin_anew(self, now_s: float) -> None:
        """The engine was restarted: its silence meanwhile was no hang and no step, and it may count from zero again."""
        self._seen = None
        self._last_s = now_s

    @property
    def patience_s(self) -> float:
        """`stall_s`, or more where this engine's own steps are long; twice that after each verdict.

        A step that outlasts it never ends, and so is in no mean: it must not be taken for a hang time and again.
        """
        return max(self._rules.stall_s, self._rules.stall_steps_min * self._step_s) * 2.0**self._doublings

    def _learn(self, steps: int, running: int, now_s: float) -> None:
        """A slow moving mean of the time per step while calls run."""
        if self._seen is None or running == 0 or steps <= self._seen[0]:
            return
        mean_s = (now_s - self._last_s) / (steps - self._seen[0])
        self._step_s = mean_s if not self._step_s else 0.9 * self._step_s + 0.1 * mean_s
