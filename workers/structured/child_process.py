"""The guarded child seen from our side: one warm process, which replaces what dies in it; restarted when it is silent."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from workers.errors import TransientEngineError

_PROGRAM: Final = Path(__file__).with_name("compile_child.py")
#: A child that ended at rest is noticed only when it is asked: so often it is replaced for one piece of work.
_ENDS_MAX: Final = 2
#: Work whose fork was killed in the middle of it is done again, until so many were.
_KILLS_MAX: Final = 2
#: The limits of `compile_child` end a fork by other signals; whoever sends this one again and again means the work.
_KILLED: Final = {"died": -signal.SIGKILL}
#: Longest answer line, in bytes: faults are cut at 1,000 characters.
_LINE_BYTES_MAX: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class ChildLimits:
    """What one piece of work may take."""

    cpu_s_max: int = 3
    memory_bytes_max: int = 1024**3
    #: To import and load the tokenizer, on a busy machine.
    start_s_max: float = 180.0
    #: By the clock, a start included: work that takes this long without using its CPU time is not to blame.
    wall_s_max: float = 240.0


class SchemaRefused(Exception):
    """A schema that cannot be applied, and why."""


class ChildDied(Exception):
    """The work killed the child: it needs too much time or memory."""


class ChildProcess:
    """Work for the guarded child, one piece at a time. Belongs to one event loop."""

    def __init__(self, limits: ChildLimits, tokenizer: str = "", vocabulary: int = 0) -> None:
        """`tokenizer`: folder of the tokenizer whose tokens structures are compiled for; "": single bytes."""
        self._limits = limits
        self._tokenizer = tokenizer
        self._vocabulary = vocabulary
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def warm_up(self) -> None:
        """Start it, if it does not run. TransientEngineError where it cannot be started."""
        async with self._turn:
            await self._living()

    async def fault(self, work: dict[str, Any]) -> str | None:
        """The child's verdict on `work`.

        Raises ChildDied, SchemaRefused, or TransientEngineError where the work is not to blame.
        """
        async with self._turn:
            try:
                return _fault(await self._answer(work))
            except (ChildDied, SchemaRefused):
                raise
            except TimeoutError as error:
                await self._end()
                raise TransientEngineError("the compiler of structures did not answer") from error
            except (ValueError, msgspec.MsgspecError) as error:
                await self._end()
                raise TransientEngineError(f"the compiler of structures answers nonsense: {error}") from error
            except BaseException:
                await self._end()  # its answer would be taken for the next one's
                raise

    async def _answer(self, work: dict[str, Any]) -> dict[str, Any]:
        ends = kills = 0
        while True:
            answer = await asyncio.wait_for(self._ask(work), self._limits.wall_s_max)
            ends += answer is None
            kills += answer == _KILLED
            if answer is not None and (answer != _KILLED or kills == _KILLS_MAX):
                return answer
            if ends == _ENDS_MAX:
                raise TransientEngineError("the compiler of structures has ended")

    async def stop(self) -> None:
        """End the child. Idempotent."""
        await self._end()

    async def _ask(self, work: dict[str, Any]) -> dict[str, Any] | None:
        """None where the child ended, or its fork before the work began: then it is replaced, with all it still says."""
        process = await self._living()
        assert process.stdin is not None
        assert process.stdout is not None
        line = b""
        with contextlib.suppress(ConnectionError):
            process.stdin.write(msgspec.json.encode(work) + b"\n")
            await process.stdin.drain()
            if "begun" in _decoded(await process.stdout.readline()):
                line = await process.stdout.readline()
        if line:
            return _decoded(line)
        await self._end()
        return None

    async def _living(self) -> asyncio.subprocess.Process:
        if self._process is None or self._process.returncode is not None:
            self._process = await self._started()
        return self._process

    async def _started(self) -> asyncio.subprocess.Process:
        limits = (str(self._limits.cpu_s_max), str(self._limits.memory_bytes_max))
        # -P: the program's own folder is no place to import from.
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-P", str(_PROGRAM), self._tokenizer, str(self._vocabulary), *limits),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=_LINE_BYTES_MAX,
        )
        assert process.stdout is not None
        try:
            ready = await asyncio.wait_for(process.stdout.readline(), self._limits.start_s_max)
        except BaseException:
            self._process = process
            await self._end()
            raise
        if not ready:
            raise TransientEngineError(
                f"the compiler of structures did not start: exit code {await process.wait()}"
            )
        return process

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _decoded(line: bytes) -> dict[str, Any]:
    return msgspec.json.decode(line, type=dict[str, Any]) if line else {}


def _fault(answer: dict[str, Any]) -> str | None:
    if "died" in answer:
        raise ChildDied
    fault: str | None = answer["fault"]
    if answer.get("of") == "schema":
        raise SchemaRefused(fault)
    return fault
