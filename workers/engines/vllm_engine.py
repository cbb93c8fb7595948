"""vLLM behind the engine boundary: AsyncLLM in this process, its engine core in a child.

This module imports vLLM only inside `start`: it can be imported where vLLM is not installed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from schemas.failure import ErrorClass, Stage
from schemas.request import Request, Task
from workers.clock import Clock, SystemClock
from workers.endpoint import Endpoint
from workers.engines.base import Answer, EngineCall
from workers.engines.phases import unheard, vllm_phases
from workers.engines.start_error import start_error
from workers.engines.vllm_args import engine_args, engine_environment, is_embedder
from workers.errors import EngineDead, EngineRefused, RequestRejected, WorkersError
from workers.models import cache_folder, resolve_model

if TYPE_CHECKING:
    from workers.engines.vllm_parsers import Parsers
    from workers.engines.vllm_replica import Replica

GENERATING: Final = frozenset({Task.CHAT, Task.COMPLETION})
EMBEDDING: Final = frozenset({Task.EMBEDDING})


class VllmEngine:
    """One vLLM replica for one endpoint; may be started again after a death."""

    def __init__(
        self, endpoint: Endpoint, clock: Clock | None = None, *, phase: Callable[[str], None] = unheard
    ) -> None:
        self._endpoint = endpoint
        self._phase = phase
        self._clock = clock or SystemClock()
        self._replica: Replica | None = None
        #: What the model does is known when it is loaded.
        self.tasks = frozenset(Task)

    async def start(self) -> None:
        try:
            await self._load()
        except WorkersError:
            raise
        except Exception as error:  # vLLM raises whatever its parts raise
            raise start_error(self._endpoint.name, error) from error

    def submit(self, call: EngineCall) -> Awaitable[Answer]:
        if self._replica is None:
            raise EngineDead("the engine is not started")
        task = call.request.task
        if task not in self.tasks:
            does = ", ".join(sorted(self.tasks))
            text = f"$.url: the endpoint {self._endpoint.name} does {does}, not {task}"
            raise RequestRejected(ErrorClass.INVALID, Stage.VALIDATE, text)
        return self._replica.embed(call) if task is Task.EMBEDDING else self._replica.complete(call)

    def prepare(self, request: Request) -> Awaitable[None] | None:
        return (
            None
            if self._replica is None or request.task is Task.EMBEDDING
            else self._replica.prepare(request)
        )

    def steps(self) -> int:
        if self._replica is None:
            return 0
        return self._replica.steps()

    async def stop(self) -> None:
        replica, self._replica = self._replica, None
        if replica is not None:
            await replica.stop()

    async def _load(self) -> None:
        """Model, then environment, then vLLM: it reads its environment as it is imported."""
        folder = await asyncio.to_thread(
            resolve_model, self._endpoint.model, cache_folder(os.environ), self._phase
        )
        for name, value in engine_environment(folder).items():
            os.environ.setdefault(name, value)
        self._phase("loading vLLM's code")
        replica_class, parsers_of = await asyncio.to_thread(_import_replica)
        parsers = parsers_of(self._endpoint)
        self.tasks = EMBEDDING if is_embedder(self._endpoint, folder) else GENERATING
        self._phase(f"starting vLLM with {self._endpoint.model}")
        with vllm_phases(self._phase):
            args = engine_args(self._endpoint, folder)
            self._replica = await replica_class.started(args, parsers, self._clock)
        self._phase("joining its group")


def _import_replica() -> tuple[type[Replica], Callable[[Endpoint], Parsers]]:
    try:
        from workers.engines.vllm_parsers import parsers_of  # noqa: PLC0415
        from workers.engines.vllm_replica import Replica as replica_class  # noqa: PLC0415
    except ImportError as error:
        raise EngineRefused(
            f"vLLM cannot be imported: {error}; see the README for its installation"
        ) from error
    return replica_class, parsers_of
