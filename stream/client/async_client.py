"""The client for event loops: the same calls, each on a thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import TracebackType
from typing import Final, ParamSpec, Self, TypeVar

from schemas.source import Source
from stream.client.addressing import Addressing
from stream.client.answer import Answer
from stream.client.client import ANSWERS_S, NO_ADDRESSING, Begin, Client
from stream.client.consuming import Wish
from stream.client.deadline import Deadline
from stream.client.group_position import GroupPosition
from stream.client.lanes import Key, LaneWork
from stream.client.submission import RequestLine
from stream.log.base import Partition, Record

#: Calls that run at once; further ones wait for a thread.
CALLS_MAX: Final = 16
P = ParamSpec("P")
T = TypeVar("T")


class AsyncClient:
    """A context. A call that is cancelled goes on in its thread until its own time is up, and its end is not told."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._threads = ThreadPoolExecutor(CALLS_MAX, thread_name_prefix="headrace-client")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def submit(
        self,
        lines: Iterable[RequestLine],
        *,
        topic: str | None = None,
        addressing: Addressing = NO_ADDRESSING,
    ) -> list[Source]:
        """As `Client.submit`."""
        return await self._call(self.client.submit, lines, topic=topic, addressing=addressing)

    async def submit_together(
        self,
        lines: Iterable[RequestLine],
        transactional_id: str,
        *,
        topic: str | None = None,
        addressing: Addressing = NO_ADDRESSING,
    ) -> None:
        """As `Client.submit_together`."""
        await self._call(
            self.client.submit_together, lines, transactional_id, topic=topic, addressing=addressing
        )

    async def ask(
        self,
        lines: Iterable[RequestLine],
        *,
        timeout_s: float = ANSWERS_S,
        topic: str | None = None,
        addressing: Addressing = NO_ADDRESSING,
    ) -> list[Answer]:
        """As `Client.ask`."""
        return await self._call(
            self.client.ask, lines, timeout_s=timeout_s, topic=topic, addressing=addressing
        )

    async def positions(self, group: str, topics: Sequence[str]) -> Mapping[Partition, GroupPosition]:
        """As `Client.positions`."""
        return await self._call(self.client.positions, group, topics)

    async def lanes(self, interval_s: float = 1.0) -> Mapping[Key, LaneWork]:
        """As `Client.lanes`."""
        return await self._call(self.client.lanes, interval_s)

    async def read(
        self,
        topic: str,
        *,
        count: int | None = None,
        follow: bool = False,
        custom_id: str | None = None,
        begin: Begin = "earliest",
        timeout_s: float | None = None,
    ) -> AsyncIterator[Record]:
        """As `Client.read`; close it (`aclosing`) where it is left before its end."""
        consuming = await self._call(self.client.consuming, topic, Deadline(timeout_s), begin=begin)
        looks = consuming.looks(Wish(count, follow, custom_id))
        try:
            while (look := await self._call(next, looks, None)) is not None:
                for record in look.records:
                    yield record
        finally:
            await self._call(looks.close)

    async def _call(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, partial(call, *args, **kwargs))
