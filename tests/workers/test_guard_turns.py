"""Whose turn it is at the guarded child, and structures that tool parsers make."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
from typing import Any

import pytest

from workers.errors import RequestRejected
from workers.structured.child_process import ChildLimits, ChildProcess
from workers.structured.guard import Guard
from workers.structured.structure import Kind, Structure

TAG = {
    "type": "tag",
    "begin": "<call>",
    "content": {"type": "json_schema", "json_schema": {}},
    "end": "</call>",
}
NEWER = {
    "type": "structural_tag",
    "format": {"type": "triggered_tags", "triggers": ["<call>"], "tags": [TAG]},
}
OLDER = {"structures": [{"begin": "<call>", "schema": {}, "end": "</call>"}], "triggers": ["<call"]}
DEAR_SCHEMA = Structure(Kind.JSON, json.dumps({"type": "string", "pattern": "a+"}, separators=(",", ":")))


class SlowChild(ChildProcess):
    """Serves one piece of work at a time, as it is let, and remembers in which order."""

    def __init__(self) -> None:
        super().__init__(ChildLimits())
        self.served: list[str] = []
        self.asked = 0
        self.let = asyncio.Semaphore(0)
        self._one = asyncio.Lock()

    async def fault(self, work: dict[str, Any]) -> str | None:
        self.asked += 1
        async with self._one:
            await self.let.acquire()
            self.served.append(str(work.get("text", "answer")))
        return None


async def _settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_an_answer_waits_for_one_compilation_and_not_for_all_of_them() -> None:
    async def scene() -> list[str]:
        child = SlowChild()
        guard = Guard(child)
        burst = [asyncio.create_task(guard.check(Structure(Kind.REGEX, f"{n}+"))) for n in range(5)]
        await _settled()
        judged = asyncio.create_task(guard.fault_of(DEAR_SCHEMA, '"aaa"'))
        await _settled()
        for _ in range(6):
            child.let.release()
        await asyncio.gather(judged, *burst)
        return child.served

    served = asyncio.run(scene())
    assert served.index("answer") == 1
    assert len(served) == 6


def test_a_guard_that_is_stopped_compiles_nothing_more_and_lets_go_of_who_waits() -> None:
    async def scene() -> tuple[int, list[Any]]:
        child = SlowChild()
        guard = Guard(child)
        burst = [asyncio.create_task(guard.check(Structure(Kind.REGEX, f"{n}+"))) for n in range(5)]
        await _settled()
        await guard.stop()
        return child.asked, await asyncio.gather(*burst, return_exceptions=True)

    asked, ends = asyncio.run(scene())
    assert asked == 1
    assert all(isinstance(end, asyncio.CancelledError) for end in ends)


def test_tags_of_both_forms_are_compiled_and_a_broken_one_is_invalid() -> None:
    if importlib.util.find_spec("xgrammar") is None and not os.environ.get("CI"):
        pytest.skip("xgrammar comes with vLLM, which is not installed")

    async def scene() -> None:
        child = ChildProcess(ChildLimits())
        guard = Guard(child)
        try:
            for tag in (NEWER, OLDER):
                await guard.check(Structure(Kind.STRUCTURAL_TAG, json.dumps(tag)))
            with pytest.raises(RequestRejected):
                await guard.check(Structure(Kind.STRUCTURAL_TAG, '{"type": "structural_tag", "format": 7}'))
        finally:
            await child.stop()

    asyncio.run(scene())
