"""One client connection through the proxy: frames up, frames down, and the faults between them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from tests.chaos.proxy import wire
from tests.chaos.proxy.faults import Action, EndTxnFault, FaultPlan

_LENGTH_BYTES = 4


async def read_frame(reader: asyncio.StreamReader) -> bytes:
    """One frame without its length; IncompleteReadError at the end of the stream."""
    length = int.from_bytes(await reader.readexactly(_LENGTH_BYTES), "big", signed=True)
    return await reader.readexactly(length)


async def write_frame(writer: asyncio.StreamWriter, frame: bytes) -> None:
    writer.write(len(frame).to_bytes(_LENGTH_BYTES, "big") + frame)
    await writer.drain()


class Severed(Exception):
    """The proxy cuts this connection on purpose."""


class Hub(Protocol):
    """What a connection needs of its proxy."""

    plan: FaultPlan
    latency_s: float

    def saw(self, api: int, name: str) -> None:
        """A request with a group or transactional id passed."""

    def saw_joined(self, group: str, joined: wire.Joined) -> None: ...
    def saw_outputs(self, transactional_id: str) -> None: ...
    def saw_end(self, end: wire.EndTxn) -> bool: ...
    def kill(self, transactional_id: str) -> None: ...
    def hold(self, transactional_id: str, frame: bytes) -> None: ...
    async def release(self, transactional_id: str) -> None:
        """Send the held request of this id, if there is one, on a connection of its own."""


OnResponse = Callable[[bytes], Awaitable[bytes | None]]


class Connection:
    """Pumps both ways until either side, or a fault, ends it."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        #: correlation id -> what happens to the answer: the frame to pass on, or None to swallow it.
        self._answers: dict[int, OnResponse] = {}
        #: Transactional ids that wrote through this connection: their open transactions are over when it ends.
        self.wrote: set[str] = set()

    async def up(self, client: asyncio.StreamReader, broker: asyncio.StreamWriter) -> None:
        while True:
            frame = await read_frame(client)
            if self._hub.latency_s:
                await asyncio.sleep(self._hub.latency_s)
            await self._inspect(frame)
            await write_frame(broker, frame)

    async def down(self, broker: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        while True:
            frame = await read_frame(broker)
            on_response = self._answers.pop(wire.correlation_of(frame), None)
            passed = frame if on_response is None else await on_response(frame)
            if passed is not None:
                await write_frame(client, passed)

    async def _inspect(self, frame: bytes) -> None:
        head = wire.parse_head(frame)
        if head.api not in wire.FLEXIBLE_FROM:
            return
        name, _ = wire.first_name(frame, head)
        self._hub.saw(head.api, name)
        if head.api == wire.JOIN_GROUP:
            self._answers[head.correlation] = self._note_generation(name, head.version)
        if head.api == wire.ADD_PARTITIONS_TO_TXN:
            self.wrote.add(name)
            self._hub.saw_outputs(name)
        if head.api == wire.ADD_OFFSETS_TO_TXN:
            # By now the broker has outputs of this transaction, and not yet its offsets: the worst moment for a stray.
            self._answers[head.correlation] = self._release_stray(name)
        if head.api == wire.END_TXN:
            end = wire.parse_end_txn(frame, head)
            with_outputs = self._hub.saw_end(end)
            fault = self._hub.plan.take(end, with_outputs=with_outputs)
            if fault is not None:
                self._hurt(fault, frame, head)

    def _note_generation(self, group: str, version: int) -> OnResponse:
        async def note(frame: bytes) -> bytes:
            self._hub.saw_joined(group, wire.parse_joined(frame, version))
            return frame

        return note

    def _release_stray(self, transactional_id: str) -> OnResponse:
        async def release(frame: bytes) -> bytes:
            await self._hub.release(transactional_id)
            return frame

        return release

    def _hurt(self, fault: EndTxnFault, frame: bytes, head: wire.RequestHead) -> None:
        if fault.action is Action.KILL_BEFORE:
            self._hub.kill(fault.of)
            self._hub.plan.bite(fault.action, fault.of)
            raise Severed
        if fault.action is Action.STRAY:
            self._hub.hold(fault.of, frame)
            raise Severed
        self._answers[head.correlation] = self._on_answer(fault)

    def _on_answer(self, fault: EndTxnFault) -> OnResponse:
        async def act(frame: bytes) -> bytes | None:
            if wire.end_txn_error(frame) != 0:
                return frame  # not committed: nothing to lose here
            self._hub.plan.bite(fault.action, fault.of)
            if fault.action is Action.KILL_AFTER:
                self._hub.kill(fault.of)
            if fault.action is Action.DELAY_RESPONSE:
                await asyncio.sleep(fault.delay_s)
                return frame
            if fault.action is Action.DROP_RESPONSE:
                return None
            raise Severed

        return act
