"""One life of a vLLM engine, from its start to its death or stop."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
from collections.abc import Awaitable, Coroutine, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, TypeVar

from vllm.engine.arg_utils import AsyncEngineArgs
from vllm.outputs import PoolingRequestOutput, RequestOutput
from vllm.pooling_params import PoolingParams
from vllm.sampling_params import SamplingParams
from vllm.v1.engine.async_llm import AsyncLLM

from schemas.bodies import ChatBody
from schemas.lane import PRIORITY
from schemas.request import Request, Task
from workers.clock import Clock
from workers.engines.base import Answer, EngineCall
from workers.engines.vllm_answer import Answers, check_ends, embeddings, finished, repeated, tokens_of
from workers.engines.vllm_errors import translated
from workers.engines.vllm_heartbeat import heartbeat
from workers.engines.vllm_parsers import Parsers
from workers.engines.vllm_rendering import Rendering
from workers.engines.vllm_request import Asked, asked_of
from workers.engines.vllm_sampling import Sampling, clamped_of, sampling_of
from workers.errors import EngineDead, EngineRefused, InvalidOutput, TransientEngineError
from workers.structured.child_process import ChildLimits, ChildProcess
from workers.structured.guard import Guard
from workers.structured.structure import Structure, structure_of

#: How long the engine core may take to end by itself before vLLM ends it.
STOP_S_MAX: Final = 2.0
#: Counted at each look at an idle engine: so many that they do not pass for slow steps.
IDLE_STEPS: Final = 1_000
T = TypeVar("T")


class Replica:
    """An AsyncLLM, its prompts and answers, and the guard before it."""

    def __init__(self, engine_args: AsyncEngineArgs, parsers: Parsers, clock: Clock) -> None:
        self._parsers = parsers
        self._clock = clock
        self._heartbeat = heartbeat()
        self._config = engine_args.create_engine_config()
        model = self._config.model_config
        self._child = ChildProcess(ChildLimits(), model.tokenizer, model.get_vocab_size())
        self._guard = Guard(self._child)
        self._engine_args = engine_args
        self._idle_steps = 0
        self._warming: asyncio.Task[None] | None = None
        self._tokens_max: int = model.max_model_len
        self._generates = model.runner_type == "generate"
        self._defaults = model.get_diff_sampling_param() if self._generates else {}

    @classmethod
    async def started(cls, args: Mapping[str, Any], parsers: Parsers, clock: Clock) -> Replica:
        """Start an engine on this loop: 20-100 s, most of them blocking."""
        _check_names(args)
        replica = cls(AsyncEngineArgs(**args), parsers, clock)
        await replica._start()
        return replica

    def steps(self) -> int:
        if self._engine.errored:
            raise EngineDead("the engine's process has ended")
        if not self._engine.get_num_unfinished_requests():
            self._idle_steps += IDLE_STEPS  # all that runs is with the compiler: an idle engine does not hang
        return self._heartbeat.steps + self._idle_steps

    async def stop(self) -> None:
        await self._guard.stop()
        await self._child.stop()
        if self._warming is not None:
            await self._warming
        if self._engine.output_handler is not None:
            self._engine.output_handler.cancel()  # or it takes the end of its core for a death, and says so
        await asyncio.to_thread(self._engine.shutdown, STOP_S_MAX)
        # Their sockets' context, with two threads, vLLM leaves to the garbage collector. It waits for the sockets, and
        # after a death vLLM closes those on this loop.
        await asyncio.to_thread(self._engine.engine_core.resources.ctx.term)

    def prepare(self, request: Request) -> Awaitable[None] | None:
        """The compiler's verdict on the structure of a request, so that it is known when the call begins."""
        body = request.body
        if isinstance(body, ChatBody) and body.tools:
            return self._compile_tools(request)
        structure = structure_of(body)
        if structure is None or self._guard.remembers(structure):
            return None
        return self._guard.check(structure)

    async def complete(self, call: EngineCall) -> Answer:
        """Answer a chat or completion request: each of its prompts."""
        with translated():
            asked = self._asked(call.request)
            parser = self._answers.parser_of(asked) if call.request.task is Task.CHAT else None
            conversation, prompts = await self._rendered(call.request, asked)
            samplings = [self._sampling(asked, prompt) for prompt in prompts]
            structure = samplings[0].structure
            if structure is not None:
                await self._guard.check(structure)
            outputs = await self._generate_all(call, asked, parser, prompts, samplings)
            check_ends(outputs, structure, forced=_forced(asked.model))
            if structure is not None:
                await self._check_texts(asked, parser, structure, outputs)
            outputs = [repeated(output, asked.copies) for output in outputs]
            if call.request.task is Task.CHAT:
                body = await self._answers.chat(call, asked, parser, conversation, outputs[0])
            else:
                body = self._answers.completion(call, asked, outputs)
            room_tokens = self._tokens_max - max(len(prompt["prompt_token_ids"]) for prompt in prompts)
            clamped = clamped_of(call.request.body, room_tokens)
            return finished(body, outputs, self._clock.now_ms() // 1000, clamped)

    async def embed(self, call: EngineCall) -> Answer:
        """Answer an embedding request: all its inputs at once."""
        with translated():
            asked = self._asked(call.request)
            params = asked.model.to_pooling_params()
            prompts = await self._rendering.embedding(asked)
            encodings = [self._encode(call, place, prompt, params) for place, prompt in enumerate(prompts)]
            return embeddings(call, asked, await _all(encodings))

    async def _start(self) -> None:
        if self._generates:
            self._warming = asyncio.create_task(self._warm_up())
            await asyncio.sleep(0)
        try:
            self._engine = AsyncLLM.from_engine_args(self._engine_args, stat_loggers=[self._heartbeat])
        except BaseException:
            await self._child.stop()
            raise
        self._rendering = Rendering(self._config.model_config, self._engine.renderer, self._parsers)
        if self._generates:
            self._answers = Answers(self._engine, self._parsers)

    async def _warm_up(self) -> None:
        """The compiler imports beside the engine. Should that fail, the first structured request tries again."""
        with contextlib.suppress(TransientEngineError):
            await self._child.warm_up()

    async def _compile_tools(self, request: Request) -> None:
        """What structure tools become is known when they are rendered."""
        with translated():
            asked = self._asked(request)
            prompts = (await self._rendered(request, asked))[1]
            structure = self._sampling(asked, prompts[0]).structure
            if structure is not None:
                await self._guard.check(structure)

    def _asked(self, request: Request) -> Asked:
        return asked_of(request, self._tokens_max, self._defaults)

    async def _rendered(self, request: Request, asked: Asked) -> tuple[list[Any], list[Any]]:
        if request.task is Task.CHAT:
            return await self._rendering.chat(asked)
        return [], await self._rendering.completion(asked)

    def _sampling(self, asked: Asked, prompt: Mapping[str, Any]) -> Sampling:
        return sampling_of(asked, len(prompt["prompt_token_ids"]), self._tokens_max, self._defaults)

    async def _generate_all(
        self,
        call: EngineCall,
        asked: Asked,
        parser: Any,
        prompts: Sequence[Any],
        samplings: Sequence[Sampling],
    ) -> list[RequestOutput]:
        options = {} if parser is None else self._answers.reasoning_options(asked, parser, prompts[0])
        if len(prompts) == 1:
            return [await self._generate(call, call.id, prompts[0], samplings[0].params, options)]
        return await _all(
            [
                self._generate(call, f"{call.id}#{place}", prompt, sampling.params, options)
                for place, (prompt, sampling) in enumerate(zip(prompts, samplings, strict=True))
            ]
        )

    async def _generate(
        self, call: EngineCall, name: str, prompt: Any, params: SamplingParams, options: Mapping[str, Any]
    ) -> RequestOutput:
        prompt["cache_salt"] = call.tenant
        last: RequestOutput | None = None
        async for output in self._engine.generate(
            prompt, params, name, priority=PRIORITY[call.lane], **options
        ):
            last = output
        if last is None:
            raise TransientEngineError("the engine gave no output")
        if last.prompt is None:
            last.prompt = prompt.get("prompt")
        return last

    async def _encode(
        self, call: EngineCall, place: int, prompt: Any, params: PoolingParams
    ) -> PoolingRequestOutput[Any]:
        last: PoolingRequestOutput[Any] | None = None
        name = f"{call.id}#{place}"
        async for output in self._engine.encode(prompt, params.clone(), name, priority=PRIORITY[call.lane]):
            last = output
        if last is None:
            raise TransientEngineError("the engine gave no output")
        return last

    async def _check_texts(
        self, asked: Asked, parser: Any, structure: Structure, outputs: Sequence[RequestOutput]
    ) -> None:
        for one in (one for output in outputs for one in output.outputs):
            text = one.text
            if parser is not None and parser.reasoning_parser is not None:
                text = parser.extract_reasoning(text, asked.model)[1] or ""
            if fault := await self._guard.fault_of(structure, text):
                raise InvalidOutput(fault, tokens_of(outputs))


def _forced(request: Any) -> bool:
    """A tool call is not only allowed but asked for."""
    return getattr(request, "tool_choice", None) not in (None, "none", "auto")


async def _all(works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Their results in order; where one fails, the others are not waited for any more."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


def _check_names(args: Mapping[str, Any]) -> None:
    """Every option must be one of vLLM's."""
    names = {field.name for field in fields(AsyncEngineArgs)}
    for name in args:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=3)
            raise EngineRefused(
                f"options.{name}: vLLM has no such option; near are: {', '.join(near) or 'none'}"
            )
