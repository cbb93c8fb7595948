"""From an endpoint's settings to its engine."""

from __future__ import annotations

from pathlib import Path

from workers.endpoint import Endpoint
from workers.engines.base import Engine
from workers.engines.simulated import SimulatedEngine
from workers.engines.vllm_engine import VllmEngine


def engine_for(endpoint: Endpoint, state_dir: Path) -> Engine:  # noqa: ARG001 - for engines that keep state
    """The engine, not yet started. What it leaves on disk goes below `state_dir`."""
    if endpoint.engine == "simulated":
        return SimulatedEngine(endpoint.simulated, endpoint.options)
    return VllmEngine(endpoint)
