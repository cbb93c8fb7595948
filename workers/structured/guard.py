"""The guard before the engine: no structure reaches it that a child process could not compile. (vLLM issue 43920: what
breaks the compiler there ends the engine, and every neighbour's answer with it.)"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from hashlib import blake2b
from typing import Final

from workers.errors import RequestRejected
from workers.structured.check_answer import check_schema, draft_of, fault_of
from workers.structured.child_process import ChildDied, ChildProcess, SchemaRefused
from workers.structured.effort import is_long, is_quick
from workers.structured.relax import relaxed
from workers.structured.structure import Kind, Structure, rejected

#: Verdicts remembered, the least recently used forgotten first. A verdict is a hash and at most 1,000 characters.
VERDICTS_MAX: Final = 4_096
#: Longest definition of a structure, in characters.
TEXT_CHARS_MAX: Final = 256 * 1024
#: These need no compiler: a choice of strings always compiles, and any JSON object is one fixed grammar.
_HARMLESS: Final = frozenset({Kind.CHOICE, Kind.JSON_OBJECT})


class Guard:
    """Verdicts on structures, each compiled once however many requests share it. Belongs to one event loop."""

    def __init__(self, child: ChildProcess, verdicts_max: int = VERDICTS_MAX) -> None:
        self._child = child
        self._verdicts_max = verdicts_max
        self._verdicts: OrderedDict[bytes, str | None] = OrderedDict()
        #: One structure at a time: an answer that waits to be judged waits for one compilation, not for all of them.
        self._compiling = asyncio.Lock()
        self._asked: dict[bytes, asyncio.Task[str | None]] = {}

    def known(self, structure: Structure) -> bool:
        """Whether `check` would answer without the child; raises RequestRejected(invalid) if so and it is bad."""
        check_length(structure)
        if not is_long(structure):
            check_schema(structure)
        if structure.kind in _HARMLESS:
            return True
        name = _name(structure)
        if name not in self._verdicts:
            return False
        self._verdicts.move_to_end(name)
        _raise(structure, self._verdicts[name])
        return True

    def remembers(self, structure: Structure) -> bool:
        """Whether `check` needs no compiler, whatever it says."""
        return (
            structure.kind in _HARMLESS
            or len(structure.text) > TEXT_CHARS_MAX
            or _name(structure) in self._verdicts
        )

    async def check(self, structure: Structure) -> None:
        """Return where the structure can be compiled. RequestRejected(invalid) says why it cannot.

        TransientEngineError where the compiler itself could not run.
        """
        if self.known(structure):
            return
        name = _name(structure)
        asked = self._asked.get(name)
        if asked is None:
            asked = self._asked[name] = asyncio.create_task(self._compile(structure))
            asked.add_done_callback(lambda _done: self._asked.pop(name, None))
        fault = await asyncio.shield(asked)  # one request's end is not the end of the others'
        self._remember(name, fault)
        _raise(structure, fault)

    async def stop(self) -> None:
        """Compile nothing more of what is waited for; whoever waits is cancelled."""
        asked = list(self._asked.values())
        for each in asked:
            each.cancel()
        await asyncio.gather(*asked, return_exceptions=True)

    async def fault_of(self, structure: Structure, text: str) -> str | None:
        """What is wrong with an answer to a structure that was checked; None where nothing is.

        What may take long is judged by the child, under its limits.
        """
        if is_quick(structure, len(text)):
            return fault_of(structure, text)
        try:
            draft = draft_of(structure.schema).__name__
            return await self._child.fault({"schema": structure.text, "value": text, "draft": draft})
        except SchemaRefused as refused:
            raise rejected(f"the schema cannot be applied: {refused}") from refused
        except ChildDied:
            return "the answer's check against the schema takes too much time"

    async def _compile(self, structure: Structure) -> str | None:
        async with self._compiling:
            return await self._fault_of_structure(structure)

    async def _fault_of_structure(self, structure: Structure) -> str | None:
        try:
            if is_long(structure):
                draft = draft_of(structure.schema).__name__
                fault = await self._child.fault({"check": structure.text, "draft": draft})
                if fault is not None:
                    return fault
            text = relaxed(structure.text) if structure.kind is Kind.JSON else structure.text
            return await self._child.fault({"kind": structure.kind.value, "text": text})
        except SchemaRefused as refused:
            return str(refused)
        except ChildDied:
            return "it takes too much time or memory to compile"

    def _remember(self, name: bytes, fault: str | None) -> None:
        self._verdicts[name] = fault
        if len(self._verdicts) > self._verdicts_max:
            self._verdicts.popitem(last=False)


def check_length(structure: Structure) -> None:
    """RequestRejected(invalid) where the definition is longer than a compiler should see."""
    if len(structure.text) > TEXT_CHARS_MAX:
        raise rejected(f"the {structure.kind} structure has more than {TEXT_CHARS_MAX} characters")


def _name(structure: Structure) -> bytes:
    return blake2b(
        structure.text.encode("utf-8", "surrogatepass"), digest_size=16, key=structure.kind.encode()
    ).digest()


def _raise(structure: Structure, fault: str | None) -> None:
    if fault is not None:
        error: RequestRejected = rejected(f"the {structure.kind} structure cannot be used: {fault}")
        raise error
