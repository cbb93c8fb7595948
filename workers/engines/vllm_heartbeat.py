"""The engine's heartbeat: vLLM calls a stat logger at every step, and a number that stands still shows a hang."""

from __future__ import annotations

from typing import Any

from vllm.v1.metrics.loggers import PrometheusStatLogger


class Heartbeat(PrometheusStatLogger):  # type: ignore[misc]
    """Counts steps and nothing else.

    vLLM adds its own Prometheus logger unless one of that class is given; so this one stands in for it, without its
    cost per step, and without its metrics in the registry of our process.
    """

    steps = 0

    def __init__(self, vllm_config: Any, engine_indexes: list[int] | None = None) -> None:
        self.vllm_config = vllm_config
        self.engine_indexes = engine_indexes or [0]

    def record(self, *_args: Any, **_kwargs: Any) -> None:
        type(self).steps += 1

    def log_engine_initialized(self) -> None:
        """Not of interest."""

    def log(self) -> None:
        """Not of interest."""

    def record_sleep_state(self, *_args: Any, **_kwargs: Any) -> None:
        """Not of interest."""

    def record_admission_rejection(self, *_args: Any, **_kwargs: Any) -> None:
        """Not of interest: it raises as well."""


def heartbeat() -> type[Heartbeat]:
    """A class of its own for each engine: vLLM makes the instance, we read the class."""
    return type("EngineHeartbeat", (Heartbeat,), {"steps": 0})
