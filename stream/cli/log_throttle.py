"""A log filter: what the Kafka client says again and again while a broker is away is written now and then only."""

from __future__ import annotations

import logging
import math
import re
from typing import Final

#: The same words are written once in so long, with how often they were said since.
REPEAT_S: Final = 10.0
#: Texts remembered; the one written longest ago goes first.
TEXTS_MAX: Final = 256
CLIENTS: Final = "stream.log."
#: What differs between two that say the same.
_TIMES: Final = re.compile(r"after \d+ms|, \d+ identical error\(s\) suppressed")


class LogThrottle(logging.Filter):
    """For a handler. Lines of other loggers pass."""

    def __init__(self) -> None:
        super().__init__()
        #: Text -> when it was written, and how often it was said since.
        self._written: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if not record.name.startswith(CLIENTS):
            return True
        words = record.getMessage()
        text = _TIMES.sub("", words)
        written_s, since = self._written.pop(text, (-math.inf, 0))
        if record.created - written_s < REPEAT_S:
            self._written[text] = (written_s, since + 1)
            return False
        self._written[text] = (record.created, 0)
        if len(self._written) > TEXTS_MAX:
            del self._written[next(iter(self._written))]
        if since:
            record.msg, record.args = f"{words} (and {since} times more since the last such line)", ()
        return True
