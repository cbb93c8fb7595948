"""Runs an engine on a loop of its own thread, for tests that call it from outside."""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import itertools
import os
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any

import pytest

from schemas.bodies import ChatBody, CompletionBody, EmbeddingBody, WholeMessage
from schemas.lane import Lane
from schemas.request import Body, Request, Task
from schemas.source import Source
from workers.endpoint import Endpoint, EngineName
from workers.engines.base import Answer, Engine, EngineCall

TOKENS_MAX = 256
START_S_MAX = 580.0
ANSWER_S_MAX = 120.0


def needs_vllm() -> None:
    if importlib.util.find_spec("vllm") is None and not os.environ.get("CI"):
        pytest.skip("vLLM is not installed")


def generating_endpoint(engine: EngineName) -> Endpoint:
    """Small enough that a prompt is soon too long for it, and the same for every test of generation."""
    options = {"max_model_len": TOKENS_MAX}
    if engine == "simulated":
        return Endpoint("tiny", engine=engine, options=options)
    return Endpoint(
        "tiny", slots=8, options={**options, "dtype": "float32", "kv_cache_memory_bytes": 128 * 1024**2}
    )


class EngineStage:
    """An engine that is started, and the ways to ask it."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._numbers = itertools.count()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="engine-stage", daemon=True)
        self._thread.start()
        self.run(engine.start(), START_S_MAX)

    def run(self, work: Coroutine[Any, Any, Any], timeout_s: float = ANSWER_S_MAX) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout_s)

    def begin(self, request: Request, *, tenant: str = "acme", attempt: int = 1) -> Future[Answer]:
        """Submit on the loop; cancelling the future cancels the promise."""
        number = next(self._numbers)
        source = Source("requests", 0, number)
        call = EngineCall(f"work/0/{number}/0", request, source, tenant, Lane.BATCH, attempt)
        return asyncio.run_coroutine_threadsafe(self._submit(call), self._loop)

    def ask(self, request: Request, *, tenant: str = "acme", attempt: int = 1) -> Answer:
        return self.begin(request, tenant=tenant, attempt=attempt).result(ANSWER_S_MAX)

    def steps(self) -> int:
        return int(self.on_loop(self.engine.steps))

    def on_loop(self, act: Callable[[], Any]) -> Any:
        async def acted() -> Any:
            return act()

        return self.run(acted())

    def close(self) -> None:
        if self._loop.is_closed():
            return
        self.run(self.engine.stop(), START_S_MAX)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(ANSWER_S_MAX)
        self._loop.close()
        assert _open_contexts() == [], "a stopped engine keeps its sockets"

    async def _submit(self, call: EngineCall) -> Answer:
        answer: Answer | Awaitable[Answer] = self.engine.submit(call)
        return answer if isinstance(answer, Answer) else await answer


def _open_contexts() -> list[Any]:
    zmq = sys.modules.get("zmq")  # vLLM brings it
    if zmq is None:
        return []
    contexts = [
        each for each in gc.get_objects() if type(each) is zmq.Context
    ]  # its shadows have a type of their own
    return [each for each in contexts if not each.closed]


def chat(text: str = "Name a colour.", **fields: Any) -> Request:
    fields.setdefault("max_tokens", 8)
    kind = Body if fields.keys() <= set(Body.__struct_fields__) else ChatBody
    return Request(Task.CHAT, kind(model="tiny", messages=[WholeMessage("user", text)], **fields))


def completion(prompt: str | list[Any], **fields: Any) -> Request:
    fields.setdefault("max_tokens", 8)
    kind = Body if fields.keys() <= set(Body.__struct_fields__) else CompletionBody
    return Request(Task.COMPLETION, kind(model="tiny", prompt=prompt, **fields))


def embedding(given: str | list[Any], **fields: Any) -> Request:
    kind = EmbeddingBody if fields else Body
    return Request(Task.EMBEDDING, kind(model="tiny", input=given, **fields))


def texts_of(answer: Answer) -> list[str]:
    choices = answer.body["choices"]
    return [choice["message"]["content"] if "message" in choice else choice["text"] for choice in choices]
