"""When a dead process is started again. Pure: times in, decisions out."""

from __future__ import annotations

import signal
from dataclasses import dataclass, replace
from typing import Final, Literal

from stream.retry import doubled_s

ProcessState = Literal["starting", "running", "draining", "restarting", "failed"]

#: Another process owns the slot: starting again would make twins fence each other for ever.
EXIT_FENCED: Final = 4
#: A wrong configuration or command line does not mend itself.
EXIT_USAGE: Final = 2
NEVER_AGAIN: Final = {
    EXIT_FENCED: "fenced: another process owns its slot",
    EXIT_USAGE: "its configuration or command line is refused",
}


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    """The first restart at once (a transaction of the dead one hides what follows it), then slower and slower."""

    backoff_s: float = 1.0
    backoff_max_s: float = 30.0
    #: Having run for so long makes the next death a first one again.
    steady_s: float = 60.0
    #: Ends by itself, one after another, before the process ever ran: then it is given up.
    start_attempts_max: int = 3
    #: A process that does not run by then is killed; loading a large model takes minutes.
    start_timeout_s: float = 1800.0

    def delay_s(self, deaths_in_a_row: int) -> float:
        """Seconds between a death and the next start; `deaths_in_a_row` counts that death."""
        if deaths_in_a_row <= 1:
            return 0.0
        return doubled_s(self.backoff_s, self.backoff_max_s, deaths_in_a_row - 1)


@dataclass(frozen=True, slots=True)
class Life:
    """What is known of one supervised process over all its runs."""

    state: ProcessState = "restarting"
    #: When to start it; means something while `restarting`.
    start_at_s: float = 0.0
    started_at_s: float = 0.0
    running_since_s: float | None = None
    has_run: bool = False
    deaths_in_a_row: int = 0
    #: Ends by itself (not by a signal) before it ever ran.
    failed_starts: int = 0
    reason: str | None = None

    def started(self, now_s: float) -> Life:
        return replace(self, state="starting", started_at_s=now_s, running_since_s=None)

    def said(self, state: ProcessState, now_s: float) -> Life:
        """It lives and says how it is."""
        if state != "running":
            return replace(self, state=state)
        since = self.running_since_s if self.running_since_s is not None else now_s
        return replace(self, state="running", running_since_s=since, has_run=True, reason=None)

    def died(
        self,
        exit_code: int,
        reason: str | None,
        now_s: float,
        policy: RestartPolicy,
        *,
        lasting: bool = False,
    ) -> Life:
        """It ended; a negative `exit_code` is the signal that did it. `lasting`: it said that no other try helps."""
        words = f"{describe(exit_code)}{f': {reason}' if reason else ''}"
        steady = self.running_since_s is not None and now_s - self.running_since_s >= policy.steady_s
        deaths = 1 if steady else self.deaths_in_a_row + 1
        failed_starts = self.failed_starts + (not self.has_run and exit_code >= 0)
        dead = replace(
            self, deaths_in_a_row=deaths, failed_starts=failed_starts, running_since_s=None, reason=words
        )
        given_up = failed_starts >= policy.start_attempts_max or (lasting and not self.has_run)
        if exit_code in NEVER_AGAIN or given_up:
            return replace(dead, state="failed")
        return replace(dead, state="restarting", start_at_s=now_s + policy.delay_s(deaths))

    def gave_up(self, reason: str) -> Life:
        return replace(self, state="failed", reason=reason)

    @property
    def runs(self) -> bool:
        """Whether its present run has ever reported that it runs, and so may have work in hand."""
        return self.running_since_s is not None

    def is_due(self, now_s: float) -> bool:
        return self.state == "restarting" and now_s >= self.start_at_s

    def is_overdue(self, now_s: float, policy: RestartPolicy) -> bool:
        return (
            self.state == "starting" and not self.runs and now_s - self.started_at_s > policy.start_timeout_s
        )


def describe(exit_code: int) -> str:
    """An exit in words."""
    if exit_code in NEVER_AGAIN:
        return f"exit code {exit_code}, {NEVER_AGAIN[exit_code]}"
    if exit_code >= 0:
        return f"exit code {exit_code}"
    try:
        return f"ended by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"ended by signal {-exit_code}"
