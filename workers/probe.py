"""A call of our own, of one token: whether an engine that has started can do anything at all.

One that dies of every call would have each record convicted in turn, as if it were to blame.
"""

from __future__ import annotations

import asyncio
from typing import Final

from schemas.lane import LANES
from schemas.request import Body, Request, Task
from schemas.source import Source
from workers.engines.base import Answer, Engine, EngineCall
from workers.errors import EngineDead, InvalidOutput, RequestRejected, TransientEngineError

PROBE_ID: Final = "probe"
_SOURCE: Final = Source("probe", 0, 0)
_TENANT: Final = "headrace"
_TEXT: Final = "a"


async def probe(engine: Engine, timeout_s: float) -> None:
    """EngineDead where the engine does not survive it, or gives no sign for `timeout_s`. Any end of the call is one."""
    lane = LANES[0]
    call = EngineCall(PROBE_ID, _request(engine.tasks), _SOURCE, _TENANT, lane)
    try:
        answer = engine.submit(call)
        if not isinstance(answer, Answer):
            await asyncio.wait_for(answer, timeout_s)
    except TimeoutError as error:
        raise EngineDead(f"it gave no answer to one token for {timeout_s:g} s") from error
    except (RequestRejected, InvalidOutput, TransientEngineError):
        return


def _request(tasks: frozenset[Task]) -> Request:
    if Task.COMPLETION in tasks:
        return Request(Task.COMPLETION, Body(model="", prompt=_TEXT, max_tokens=1))
    return Request(Task.EMBEDDING, Body(model="", input=_TEXT))
