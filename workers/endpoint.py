"""An endpoint's settings: which engine answers it, with how much at once, and what it forgives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

EngineName = Literal["vllm", "simulated"]
#: Of a session: outputs in input order; runs too, one at a time; or neither.
OrderName = Literal["session", "serial", "none"]


@dataclass(frozen=True, slots=True)
class SimulatedTimes:
    """The simulated engine's time model; 0 means that it costs nothing."""

    prefill_tokens_per_s: float = 0
    decode_tokens_per_s: float = 0
    start_s: float = 0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One `[endpoints.NAME]` of the configuration."""

    name: str
    engine: EngineName = "vllm"
    model: str = "smollm2-135m-instruct"
    workers: int = 1
    #: Partitions of each lane's work topic; None: 4 x workers.
    partitions: int | None = None
    #: Requests inside the engine at once, over all lanes.
    slots: int = 32
    order: OrderName = "session"
    attempts_max: int = 3
    poison_deaths_max: int = 3
    #: Passed to the engine, checked by it.
    options: Mapping[str, Any] = field(default_factory=dict)
    simulated: SimulatedTimes = field(default_factory=SimulatedTimes)
    #: vLLM's parser that finds the model's tool calls (`tool_choice: "auto"`); None: only forced calls are answered.
    tool_parser: str | None = None
    #: vLLM's parser that tells the model's reasoning from its answer.
    reasoning_parser: str | None = None

    @property
    def partitions_count(self) -> int:
        return self.partitions if self.partitions is not None else 4 * self.workers
