"""What the runner forgives, how often, and how long it waits between tries."""

from __future__ import annotations

import random
from dataclasses import dataclass

from workers.endpoint import Endpoint


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Every limit of a runner, with its unit."""

    #: Calls inside the engine at once; what is handed over beyond it waits.
    slots_max: int = 32
    #: Calls handed over beyond the slots to an engine that answers on the spot: it never has two of them inside.
    ahead_calls_max: int = 256
    #: Calls handed over beyond the slots while as many wait for a compiler and hold none.
    preparing_calls_max: int = 64
    #: Engine attempts of one record that may fail for a passing reason.
    attempts_max: int = 3
    #: Engine deaths of one record, the last of them alone, until it is poison.
    poison_deaths_max: int = 3
    #: Answers of one record that may break their structure: the first, and its retry.
    invalid_outputs_max: int = 2
    #: First wait after a passing failure; doubled each time.
    backoff_s: float = 0.2
    backoff_s_max: float = 5.0
    #: Calls run, none ends and the engine makes no step for so long: it hangs.
    stall_s: float = 30.0
    #: ... but never less than so many of its own mean steps (a large model on a slow machine).
    stall_steps_min: int = 10
    #: ... and twice as long after each time that it was taken to hang, so often.
    stall_doublings_max: int = 4
    #: Tries to bring a dead engine back before the process gives up.
    engine_starts_max: int = 3
    #: Wait between two of these tries.
    engine_start_pause_s: float = 1.0
    #: One token of our own, asked of an engine that has started, before any record.
    probe_s_max: float = 120.0
    #: How long an engine may take to stop before it is left behind.
    engine_stop_s_max: float = 30.0

    @classmethod
    def of(cls, endpoint: Endpoint) -> RetryPolicy:
        """The rules of an endpoint; what its settings do not name keeps its default."""
        return cls(
            slots_max=endpoint.slots,
            attempts_max=endpoint.attempts_max,
            poison_deaths_max=endpoint.poison_deaths_max,
        )


def backoff_s(rules: RetryPolicy, failures: int, rng: random.Random) -> float:
    """Seconds to wait after the `failures`-th failure (1, 2, …): exponential, with a jitter of one half."""
    longest = min(rules.backoff_s_max, rules.backoff_s * 2.0 ** min(failures - 1, 30))
    return longest * rng.uniform(0.5, 1.0)
