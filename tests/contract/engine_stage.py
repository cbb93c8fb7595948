"""Runs an engine on a loop of its own thread, for tests that call it from outside."""

from __future__ import annotations

import asyncio
import gc
import itertools
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any

from schemas.lane import Lane
from schemas.request import Body, Message, Request, Task
from schemas.source import Source
from workers.engines.base import Answer, Engine, EngineCall

START_S_MAX = 580.0
ANSWER_S_MAX = 120.0


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


def chat(text: str = "Name a colour.", **body: Any) -> Request:
    body.setdefault("max_tokens", 8)
    return Request(Task.CHAT, Body(model="tiny", messages=[Message("user", text)], **body))


def completion(prompt: str | list[int], **body: Any) -> Request:
    body.setdefault("max_tokens", 8)
    return Request(Task.COMPLETION, Body(model="tiny", prompt=prompt, **body))


def embedding(given: str | list[str | int]) -> Request:
    return Request(Task.EMBEDDING, Body(model="tiny", input=given))


def texts_of(answer: Answer) -> list[str]:
    choices = answer.body["choices"]
    return [choice["message"]["content"] if "message" in choice else choice["text"] for choice in choices]
