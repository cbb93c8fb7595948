"""SIGTERM and SIGINT as a question that the loop asks."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Final

EXIT_DONE: Final = 0
EXIT_SIGINT: Final = 130


class StopSignal:
    """Either asks for a clean end; a second one of its kind ends at once. Made in the main thread."""

    def __init__(self) -> None:
        self.received: int | None = None
        self._before = {
            number: signal.signal(number, self._note) for number in (signal.SIGTERM, signal.SIGINT)
        }

    def __call__(self) -> bool:
        return self.received is not None

    @property
    def exit_code(self) -> int:
        return EXIT_SIGINT if self.received == signal.SIGINT else EXIT_DONE

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.received = number
        signal.signal(number, self._before[signal.Signals(number)])
