"""What an engine does while it starts, in a few words each."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

#: How lines of vLLM's log begin, and what they mean for whoever waits.
VLLM_PHASES: Final = (
    (re.compile(r"Starting to load model"), "loading weights"),
    (re.compile(r"Time spent downloading weights"), "loading weights"),
    (re.compile(r"Loading weights took"), "preparing memory"),
    (re.compile(r"Warming up model"), "warming up"),
    (re.compile(r"Warming up done|init engine"), "opening the engine"),
)


def unheard(_words: str) -> None:
    """Nobody wants to know."""


def vllm_phase(line: str) -> str | None:
    """What a line of vLLM's log says of its start; None: nothing."""
    return next((words for pattern, words in VLLM_PHASES if pattern.match(line)), None)


class _Listening(logging.Handler):
    def __init__(self, phase: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self._phase = phase

    def emit(self, record: logging.LogRecord) -> None:
        if words := vllm_phase(record.getMessage()):
            self._phase(words)


@contextmanager
def vllm_phases(phase: Callable[[str], None]) -> Iterator[None]:
    """Hear vLLM's log in this process while it starts; what it prints is not changed by that.

    An engine core in a process of its own (on a GPU) is not heard: there the words before the start stay.
    """
    vllm = logging.getLogger("vllm")
    level, listening = vllm.level, _Listening(phase)
    vllm.setLevel(logging.INFO)
    vllm.addHandler(listening)
    try:
        yield
    finally:
        vllm.removeHandler(listening)
        vllm.setLevel(level)
