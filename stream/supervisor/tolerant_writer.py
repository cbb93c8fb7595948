"""Writing down what runs must not end what runs: a full disk is told, and tried again at the next step."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from typing import Final

from stream.supervisor.supervisor import Unit

log = logging.getLogger(__name__)

#: A disk that stays full is told so often.
TELL_S: Final = 30.0


class TolerantWriter:
    """`write`, whose OSError is told now and then only."""

    def __init__(self, write: Callable[[Sequence[Unit]], None], clock_s: Callable[[], float]) -> None:
        self._write = write
        self._clock_s = clock_s
        self._told_s = -math.inf

    def __call__(self, units: Sequence[Unit]) -> None:
        try:
            self._write(units)
        except OSError as error:
            if self._clock_s() - self._told_s >= TELL_S:
                self._told_s = self._clock_s()
                log.warning("the state directory cannot be written, what runs goes on: %s", error)
