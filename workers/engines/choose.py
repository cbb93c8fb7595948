"""From an endpoint's settings to its engine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from workers.endpoint import Endpoint
from workers.engines.base import Engine
from workers.engines.phases import unheard
from workers.engines.simulated import SimulatedEngine
from workers.engines.vllm_engine import VllmEngine


def engine_for(
    endpoint: Endpoint,
    state_dir: Path,  # noqa: ARG001 - for engines that keep state
    phase: Callable[[str], None] = unheard,
) -> Engine:
    """The engine, not yet started. What it leaves on disk goes below `state_dir`; `phase` is told what a start does."""
    if endpoint.engine == "simulated":
        return SimulatedEngine(
            endpoint.simulated, endpoint.options, chooses_tools=endpoint.tool_parser is not None
        )
    return VllmEngine(endpoint, phase=phase)
