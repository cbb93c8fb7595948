"""The simulated engine: deterministic answers, time from a model of prefill and decode, faults on demand.

It stands beside the real engine behind the same interface, for tests, chaos and capacity trials. Each call takes
prompt tokens / `prefill_tokens_per_s` + answer tokens / `decode_tokens_per_s`, whatever runs beside it; 0 costs nothing.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Mapping
from typing import Any, Final

import msgspec

from schemas.failure import ErrorClass, Stage
from schemas.request import Body, Request, Task
from workers.endpoint import SimulatedTimes
from workers.engines.base import Answer, EngineCall
from workers.engines.simulated_answer import answer_of, check_tool_choice, expected_answer, prompt_tokens
from workers.engines.simulated_faults import NO_FAULTS, Faults, parse_faults
from workers.engines.simulated_text import wished
from workers.errors import EngineDead, InvalidOutput, RequestRejected, TransientEngineError
from workers.structured.check_answer import check_schema, fault_of
from workers.structured.child_process import ChildLimits, ChildProcess
from workers.structured.effort import is_long, is_quick
from workers.structured.guard import Guard
from workers.structured.structure import Kind, Structure

__all__ = ["SimulatedEngine", "expected_answer"]

#: These need a compiler to be judged; the child that has one starts with the first of them.
_COMPILED: Final = frozenset({Kind.REGEX, Kind.GRAMMAR})
#: An answer that is made up is seldom longer.
TEXT_CHARS: Final = 1_000


class SimulatedEngine:
    """One replica that computes nothing.

    Option `max_model_len` (tokens) makes it refuse longer prompts; `dies_at_every_call` is a broken engine.
    """

    tasks = frozenset(Task)

    def __init__(
        self, times: SimulatedTimes, options: Mapping[str, Any] | None = None, *, chooses_tools: bool = False
    ) -> None:
        """`chooses_tools`: as a model with a tool parser, it may be left to choose (it never calls one then)."""
        self._times = times
        self._chooses_tools = chooses_tools
        self._prompt_tokens_max: int | None = (options or {}).get("max_model_len")
        self._broken = bool((options or {}).get("dies_at_every_call"))
        self._costs = times.prefill_tokens_per_s > 0 or times.decode_tokens_per_s > 0
        self._running: set[asyncio.Future[Answer]] = set()
        self._child = ChildProcess(ChildLimits())
        self._guard = Guard(self._child)
        self._steps = 0
        self._hangs = False
        self._dead = False

    async def start(self) -> None:
        if self._times.start_s:
            await asyncio.sleep(self._times.start_s)
        self._hangs = self._dead = False

    def submit(self, call: EngineCall) -> Answer | Awaitable[Answer]:
        body = call.request.body
        faults = NO_FAULTS if body.metadata is None else parse_faults(body.metadata.get("simulate", ""))
        self._dead = self._dead or self._broken
        if self._dead:
            raise EngineDead("the simulated engine is dead")
        if self._prompt_tokens_max is not None:
            self._check_length(call, self._prompt_tokens_max)
        if type(body) is not Body and not self._chooses_tools:
            check_tool_choice(body)
        if call.request.task is Task.COMPLETION and not body.prompt:
            raise RequestRejected(ErrorClass.INVALID, Stage.VALIDATE, "$.body.prompt: it is empty")
        structure = wished(body)
        if structure is not None and _needs_child(structure):
            return self._guarded(call, faults, structure)
        return self._begun(call, faults)

    def prepare(self, request: Request) -> Awaitable[None] | None:
        structure = wished(request.body)
        if structure is None or not _is_compiled(structure) or self._guard.remembers(structure):
            return None
        return self._guard.check(structure)

    def steps(self) -> int:
        if self._dead:
            raise EngineDead("the simulated engine is dead")
        self._steps += 0 if self._hangs else 1_000
        return self._steps

    async def stop(self) -> None:
        self._dead = True
        await self._guard.stop()
        await self._child.stop()
        for future in tuple(self._running):
            future.cancel()

    def _begun(self, call: EngineCall, faults: Faults) -> Answer | asyncio.Future[Answer]:
        if not self._costs and not self._hangs and not faults.strike:
            return self._answer(call)
        return self._promise(call, faults)

    async def _guarded(self, call: EngineCall, faults: Faults, structure: Structure) -> Answer:
        """As the real engine does: what may take long is compiled and judged aside."""
        if _is_compiled(structure):
            await self._guard.check(structure)
        begun = self._begun(call, faults)
        answer = begun if isinstance(begun, Answer) else await begun
        if '"pattern' not in structure.text:  # what meets a regex cannot be made up here
            for text in _texts(answer):
                if fault := await self._guard.fault_of(structure, text):
                    raise InvalidOutput(fault, answer.tokens)
        return answer

    def _check_length(self, call: EngineCall, tokens_max: int) -> None:
        tokens = prompt_tokens(call.request)
        if tokens >= tokens_max:
            text = f"the prompt has {tokens} tokens, the model takes {tokens_max} with its answer"
            raise RequestRejected(ErrorClass.TOO_LONG, Stage.ENGINE, text)

    def _answer(self, call: EngineCall) -> Answer:
        structure = wished(call.request.body)
        if structure is None:
            return answer_of(call.request, self._prompt_tokens_max)
        if not is_long(structure):
            check_schema(structure)
        answer = answer_of(call.request, self._prompt_tokens_max)
        for text in _texts(answer):
            if is_quick(structure, len(text)) and (fault := fault_of(structure, text)):
                raise InvalidOutput(fault, answer.tokens)
        return answer

    def _promise(self, call: EngineCall, faults: Faults) -> asyncio.Future[Answer]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Answer] = loop.create_future()
        self._running.add(future)
        future.add_done_callback(self._running.discard)
        if faults.hang:
            self._hangs = True
        first_token_s, whole_s = self._durations_s(call, faults)
        loop.call_later(whole_s, self._finish, call, faults, first_token_s, future)
        return future

    def _durations_s(self, call: EngineCall, faults: Faults) -> tuple[float, float]:
        """Until the first token, and until the last."""
        if not self._costs:
            return faults.sleep, faults.sleep
        tokens, times = answer_of(call.request, self._prompt_tokens_max).tokens, self._times
        first_token_s = faults.sleep
        if times.prefill_tokens_per_s:
            first_token_s += tokens.input / times.prefill_tokens_per_s
        decode_s = tokens.output / times.decode_tokens_per_s if times.decode_tokens_per_s else 0.0
        return first_token_s, first_token_s + decode_s

    def _finish(
        self, call: EngineCall, faults: Faults, first_token_s: float, future: asyncio.Future[Answer]
    ) -> None:
        if future.done() or self._hangs:
            return
        try:
            self._strike(call, faults)
            answer = self._answer(call)
        except (RequestRejected, InvalidOutput, TransientEngineError, EngineDead) as error:
            future.set_exception(error)
            return
        if answer.first_token_s is not None:
            answer = msgspec.structs.replace(answer, first_token_s=first_token_s)
        future.set_result(answer)

    def _strike(self, call: EngineCall, faults: Faults) -> None:
        if faults.kill_process:
            os.kill(os.getpid(), signal.SIGKILL)
        if call.attempt <= faults.engine_dead:
            self._dead = True
            raise EngineDead("the simulated engine was told to die")
        if call.attempt <= faults.transient:
            raise TransientEngineError("the simulated engine was told to fail")
        if call.attempt <= faults.invalid_output:
            raise InvalidOutput(
                "the simulated engine was told to break the structure",
                answer_of(call.request, self._prompt_tokens_max).tokens,
            )
        if faults.reject:
            raise RequestRejected(
                ErrorClass.INVALID, Stage.VALIDATE, "the simulated engine was told to refuse"
            )


def _is_compiled(structure: Structure) -> bool:
    return structure.kind in _COMPILED or is_long(structure)


def _needs_child(structure: Structure) -> bool:
    return structure.kind in _COMPILED or not is_quick(structure, TEXT_CHARS)


def _texts(answer: Answer) -> list[str]:
    return [_text(choice) for choice in answer.body["choices"]]


def _text(choice: Mapping[str, Any]) -> str:
    """What is held to the structure: the arguments of a tool call, else the text."""
    message = choice.get("message")
    if message is None:
        return str(choice["text"])
    return str(
        message["tool_calls"][0]["function"]["arguments"] if "tool_calls" in message else message["content"]
    )
