"""The proxy: an asyncio server on a thread of its own, in front of the broker's advertised listener."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from tests.chaos.proxy import wire
from tests.chaos.proxy.connection import Connection, Severed, read_frame, write_frame
from tests.chaos.proxy.faults import Action, FaultPlan

HOST: Final = "127.0.0.1"
#: Answers to a stray of an older epoch: INVALID_PRODUCER_EPOCH, INVALID_TXN_STATE, PRODUCER_FENCED.
REFUSALS: Final = {47, 48, 90}
_ENDINGS = (asyncio.IncompleteReadError, ConnectionError, Severed, OSError)


class Proxy:
    """Listens on `port` for the broker on `upstream_port`. `kill_owner` kills a transactional id's process."""

    def __init__(
        self, port: int, upstream_port: int, kill_owner: Callable[[str], None] | None = None
    ) -> None:
        self.port = port
        self.plan = FaultPlan()
        #: Seconds that every request waits before it goes on.
        self.latency_s = 0.0
        #: (api key, group or transactional id) -> requests that passed.
        self.requests: Counter[tuple[int, str]] = Counter()
        #: group -> its last generation; a new one is a rebalance (a static member's restart is none).
        self.generations: dict[str, int] = {}
        #: transactional id -> aborts asked for by its client.
        self.aborts: Counter[str] = Counter()
        #: transactional id -> commits of transactions with outputs, asked for by its client.
        self.published: Counter[str] = Counter()
        #: group -> generations for which a member asked, or which began, while one of it had a transaction open.
        self.moved_in_transaction: Counter[str] = Counter()
        #: Error codes with which the broker met stray EndTxn requests; 0 means that it believed one.
        self.stray_answers: list[int] = []
        #: What went wrong in the proxy itself: a test with any of these is void.
        self.failures: list[BaseException] = []
        self.kill_owner = kill_owner
        self._upstream_port = upstream_port
        self._open = True
        self._held: dict[str, bytes] = {}
        self._writing: set[str] = set()
        #: Groups that a member asked to join while a transaction of theirs was open, since their last generation.
        self._asked_in_transaction: set[str] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="proxy", daemon=True)
        self._listening = threading.Event()

    @property
    def address(self) -> str:
        return f"{HOST}:{self.port}"

    def start(self) -> None:
        self._thread.start()
        if not self._listening.wait(60):
            raise TimeoutError(f"the proxy does not listen on {self.address}")

    def stop(self) -> None:
        if self._thread.is_alive():  # where the broker did not start, nor did we
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(60)

    def sever(self) -> None:
        """Cut every connection; clients may come back at once."""
        self._loop.call_soon_threadsafe(self._cut_all)

    def shut(self) -> None:
        """Cut every connection and refuse new ones until `reopen`: a partition of the network."""
        self._open = False
        self.sever()

    def reopen(self) -> None:
        self._open = True

    def saw(self, api: int, name: str) -> None:
        self.requests[(api, name)] += 1
        if api == wire.JOIN_GROUP and self._is_busy(name):
            self._asked_in_transaction.add(name)

    def saw_joined(self, group: str, joined: wire.Joined) -> None:
        before = self.generations.get(group, 0)
        if joined.error == 0 and joined.generation > before:
            self.generations[group] = joined.generation
            busy = group in self._asked_in_transaction or self._is_busy(group)
            self._asked_in_transaction.discard(group)
            self.moved_in_transaction[group] += before > 0 and busy

    def _is_busy(self, group: str) -> bool:
        return any(name.startswith(f"{group}.") for name in self._writing)

    def saw_outputs(self, transactional_id: str) -> None:
        self._writing.add(transactional_id)

    def is_writing(self, transactional_id: str) -> bool:
        """Whether it has a transaction open that has outputs."""
        return transactional_id in self._writing

    def saw_end(self, end: wire.EndTxn) -> bool:
        """Whether the transaction has outputs; one of progress alone has none."""
        if not end.commit:
            self.aborts[end.transactional_id] += 1
        wrote = end.transactional_id in self._writing
        self._writing.discard(end.transactional_id)
        self.published[end.transactional_id] += end.commit and wrote
        return wrote

    def kill(self, transactional_id: str) -> None:
        if self.kill_owner is None:
            raise RuntimeError(f"a fault wants to kill {transactional_id}, but the proxy knows no processes")
        self.kill_owner(transactional_id)

    def hold(self, transactional_id: str, frame: bytes) -> None:
        self._held[transactional_id] = frame

    async def release(self, transactional_id: str) -> None:
        frame = self._held.pop(transactional_id, None)
        if frame is None:
            return
        reader, writer = await asyncio.open_connection(HOST, self._upstream_port)
        try:
            await write_frame(writer, frame)
            self.stray_answers.append(wire.end_txn_error(await read_frame(reader)))
            self.plan.bite(Action.STRAY, transactional_id)
        finally:
            writer.close()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._accept, HOST, self.port))
        self._listening.set()
        try:
            self._loop.run_forever()
        finally:
            server.close()
            self._cut_all()
            self._loop.run_until_complete(self._settle())
            self._loop.close()

    async def _settle(self) -> None:
        """Let every connection's task end before the loop closes."""
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _cut_all(self) -> None:
        for writer in list(self._writers):
            writer.transport.abort()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._open:
            writer.transport.abort()
            return
        try:
            broker_reader, broker_writer = await asyncio.open_connection(HOST, self._upstream_port)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, broker_writer}
        try:
            await self._pump(reader, writer, broker_reader, broker_writer)
        except (*_ENDINGS, asyncio.CancelledError):  # the latter: the proxy stops
            pass
        except Exception as error:
            self.failures.append(error)
        finally:
            self._writers -= {writer, broker_writer}
            for end in (writer, broker_writer):
                end.transport.abort()

    async def _pump(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        broker_reader: asyncio.StreamReader,
        broker_writer: asyncio.StreamWriter,
    ) -> None:
        connection = Connection(self)
        pumps = [
            asyncio.ensure_future(connection.up(reader, broker_writer)),
            asyncio.ensure_future(connection.down(broker_reader, writer)),
        ]
        try:
            done, _ = await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
            for pump in done:
                pump.result()
        finally:
            self._writing -= connection.wrote
            for pump in pumps:
                pump.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.gather(*pumps, return_exceptions=True)
