"""One life of a vLLM engine, from its start to its death or stop."""

from __future__ import annotations

import asyncio
import contextlib
import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final, TypeVar

from vllm.engine.arg_utils import AsyncEngineArgs
from vllm.inputs.engine import tokens_input
from vllm.outputs import PoolingRequestOutput, RequestOutput
from vllm.pooling_params import PoolingParams
from vllm.sampling_params import SamplingParams
from vllm.v1.engine.async_llm import AsyncLLM

from schemas.lane import PRIORITY
from schemas.request import Body
from workers.clock import Clock
from workers.engines.base import Answer, EngineCall
from workers.engines.vllm_answer import check_ends, completion, embeddings, tokens_of
from workers.engines.vllm_errors import translated
from workers.engines.vllm_heartbeat import heartbeat
from workers.engines.vllm_params import sampling_of
from workers.engines.vllm_prompt import Prompter, chars_of
from workers.errors import EngineDead, EngineRefused, InvalidOutput, TransientEngineError
from workers.structured.child_process import ChildLimits, ChildProcess
from workers.structured.guard import Guard
from workers.structured.structure import Structure, structure_of

#: How long the engine core may take to end by itself before vLLM ends it.
STOP_S_MAX: Final = 2.0
#: Counted at each look at an idle engine: so many that they do not pass for slow steps.
IDLE_STEPS: Final = 1_000
#: Texts of so many characters are tokenized beside the loop: 10 ms and more, and 16 MiB take 20 s.
ASIDE_CHARS_MIN: Final = 32 * 1024
T = TypeVar("T")


class Replica:
    """An AsyncLLM, its prompts and answers, and the guard before it."""

    def __init__(self, engine_args: AsyncEngineArgs, clock: Clock) -> None:
        self._clock = clock
        self._heartbeat = heartbeat()
        self._config = engine_args.create_engine_config()
        model = self._config.model_config
        self._child = ChildProcess(ChildLimits(), model.tokenizer, model.get_vocab_size())
        self._guard = Guard(self._child)
        self._engine_args = engine_args
        self._idle_steps = 0
        self._tokenizing = asyncio.Lock()
        self._warming: asyncio.Task[None] | None = None
        self._generates = model.runner_type == "generate"
        self._defaults = model.get_diff_sampling_param() if self._generates else {}

    @classmethod
    async def started(cls, args: Mapping[str, Any], clock: Clock) -> Replica:
        """Start an engine on this loop: 20-100 s, most of them blocking."""
        _check_names(args)
        replica = cls(AsyncEngineArgs(**args), clock)
        await replica._start()
        return replica

    def steps(self) -> int:
        if self._engine.errored:
            raise EngineDead("the engine's process has ended")
        if not self._engine.get_num_unfinished_requests():
            self._idle_steps += IDLE_STEPS  # all that runs is with the compiler: an idle engine does not hang
        return self._heartbeat.steps + self._idle_steps

    async def stop(self) -> None:
        await self._child.stop()
        if self._warming is not None:
            await self._warming
        if self._engine.output_handler is not None:
            self._engine.output_handler.cancel()  # or it takes the end of its core for a death, and says so
        await asyncio.to_thread(self._engine.shutdown, STOP_S_MAX)
        # Their sockets' context, with two threads, vLLM leaves to the garbage collector. It waits for the sockets, and
        # after a death vLLM closes those on this loop.
        await asyncio.to_thread(self._engine.engine_core.resources.ctx.term)

    async def complete(self, call: EngineCall) -> Answer:
        """Answer a chat or completion request."""
        with translated():
            request = call.request
            structure = structure_of(request.body)
            if structure is not None:
                await self._guard.check(structure)
            prompt = await self._tokenized(request.body, lambda: self._prompter.prompt_of(request))
            sampling = sampling_of(request, structure, self._prompter.room_tokens(prompt), self._defaults)
            output = await self._generate(call, prompt, sampling.params)
            check_ends(output, structure)
            texts = self._texts(output, detokenized=sampling.params.detokenize)
            await self._check_texts(output, structure, texts)
            return completion(call, output, texts, self._clock.now_ms() // 1000, sampling.clamped)

    async def embed(self, call: EngineCall) -> Answer:
        """Answer an embedding request: all its inputs at once."""
        with translated():
            body = call.request.body
            inputs = await self._tokenized(body, lambda: self._prompter.inputs_of(body))
            encodings = [
                asyncio.ensure_future(self._encode(call, place, tokens))
                for place, tokens in enumerate(inputs)
            ]
            try:
                return embeddings(call, await asyncio.gather(*encodings))
            finally:
                for encoding in encodings:  # where one failed, the others are not waited for any more
                    encoding.cancel()

    async def _start(self) -> None:
        if self._generates:
            self._warming = asyncio.create_task(self._warm_up())
            await asyncio.sleep(0)
        try:
            self._engine = AsyncLLM.from_engine_args(self._engine_args, stat_loggers=[self._heartbeat])
        except BaseException:
            await self._child.stop()
            raise
        model = self._config.model_config
        self._prompter = Prompter(self._engine.get_tokenizer(), model.max_model_len, model.get_vocab_size())

    async def _warm_up(self) -> None:
        """The compiler imports beside the engine. Should that fail, the first structured request tries again."""
        with contextlib.suppress(TransientEngineError):
            await self._child.warm_up()

    async def _tokenized(self, body: Body, tokenize: Callable[[], T]) -> T:
        """In place, or beside the loop where it takes long; one at a time, for the memory that it takes."""
        if chars_of(body) < ASIDE_CHARS_MIN:
            return tokenize()
        async with self._tokenizing:
            return await asyncio.to_thread(tokenize)

    async def _generate(
        self, call: EngineCall, prompt: Sequence[int], params: SamplingParams
    ) -> RequestOutput:
        salted = tokens_input(list(prompt), cache_salt=call.tenant)
        last: RequestOutput | None = None
        async for output in self._engine.generate(salted, params, call.id, priority=PRIORITY[call.lane]):
            last = output
        if last is None:
            raise TransientEngineError("the engine gave no output")
        return last

    async def _encode(self, call: EngineCall, place: int, tokens: list[int]) -> PoolingRequestOutput[Any]:
        last: PoolingRequestOutput[Any] | None = None
        params = PoolingParams(task="embed")
        name = f"{call.id}#{place}"
        async for output in self._engine.encode(
            tokens_input(tokens), params, name, priority=PRIORITY[call.lane]
        ):
            last = output
        if last is None:
            raise TransientEngineError("the engine gave no output")
        return last

    def _texts(self, output: RequestOutput, *, detokenized: bool) -> list[str]:
        if detokenized:
            return [one.text for one in output.outputs]
        return [self._prompter.text_of(one.token_ids) for one in output.outputs]

    async def _check_texts(
        self, output: RequestOutput, structure: Structure | None, texts: Sequence[str]
    ) -> None:
        if structure is None:
            return
        for text in texts:
            if fault := await self._guard.fault_of(structure, text):
                raise InvalidOutput(fault, tokens_of(output))


def _check_names(args: Mapping[str, Any]) -> None:
    """Every option must be one of vLLM's."""
    names = {field.name for field in fields(AsyncEngineArgs)}
    for name in args:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=3)
            raise EngineRefused(
                f"options.{name}: vLLM has no such option; near are: {', '.join(near) or 'none'}"
            )
