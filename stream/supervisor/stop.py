"""SIGINT, SIGTERM, and SIGHUP of a closed terminal: a wish to stop, not an exception in the middle of something."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

log = logging.getLogger(__name__)

EXIT_SIGINT: Final = 130
EXIT_AT_ONCE: Final = 1
#: The last one where nobody ignores it already.
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopWish:
    """Set by the first signal; the second one means: at once (KeyboardInterrupt). More change nothing."""

    def __init__(self) -> None:
        self._signal: int | None = None
        self._at_once = False

    @property
    def wished(self) -> bool:
        return self._signal is not None

    @property
    def exit_code(self) -> int:
        """130 after SIGINT; otherwise 0 after a clean stop, 1 after one at once."""
        if self._signal == signal.SIGINT:
            return EXIT_SIGINT
        return EXIT_AT_ONCE if self._at_once else 0

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Main thread only. The handlers of before come back at the end."""
        heard = [number for number in SIGNALS if not _is_nohup(number)]
        before = {number: signal.signal(number, self._wish) for number in heard}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _wish(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self._at_once:
            return
        if self.wished:
            self._at_once = True
            raise KeyboardInterrupt
        self._signal = number
        log.info("%s: stopping when running work is done; once more: at once", signal.Signals(number).name)


def _is_nohup(number: signal.Signals) -> bool:
    # Not asked for SIGINT: a shell script's `headrace up &` starts with it ignored and still means to stop it so.
    return number == signal.SIGHUP and signal.getsignal(number) is signal.SIG_IGN
