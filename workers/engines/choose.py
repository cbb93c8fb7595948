"""From an endpoint's settings to its engine."""

from __future__ import annotations

from pathlib import Path

from workers.endpoint import Endpoint
from workers.engines.base import Engine
from workers.engines.simulated import SimulatedEngine


def engine_for(endpoint: Endpoint, state_dir: Path) -> Engine:
    """The engine, not yet started. vLLM is imported only for an endpoint that runs it."""
    if endpoint.engine == "simulated":
        return SimulatedEngine(endpoint.simulated, endpoint.options)
    from workers.engines.vllm_engine import VllmEngine  # noqa: PLC0415 - costs seconds, and may be missing

    return VllmEngine(endpoint, state_dir)
