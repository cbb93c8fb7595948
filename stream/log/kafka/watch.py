"""librdkafka's log lines, read on their way: only they tell of a request that was sent and not answered.

The client repeats an EndTxn on a new connection by itself, within milliseconds, and reports success. The first one
may still be under way, and the broker would believe it in the next transaction of the same epoch (KAFKA-17754; on
the embedded broker a stray committed outputs without their offsets).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

#: librdkafka's name for its connection to whoever ends our transactions.
_COORDINATOR: Final = "TxnCoordinator"
#: Facilities of lines about a broken connection and an unanswered request.
_BROKEN, _UNANSWERED = "FAIL", "REQTMOUT"
#: A connection that never came up has carried nothing.
_WAS_UP: Final = "in state UP"


class CoordinatorWatch:
    """Given to a client as its `logger`; passes every line on, and calls `lost` for those that taint it."""

    def __init__(self, logger: logging.Logger, lost: Callable[[], None]) -> None:
        self._logger = logger
        self._lost = lost

    def log(self, level: int, form: str, *arguments: object) -> None:
        """Called by the binding: `form` takes the facility, the client's name and the text."""
        facility, _name, text = (*map(str, arguments), "", "", "")[:3]
        if tells_of_a_loss(facility, text):
            self._lost()
        self._logger.log(level, form, *arguments)


def tells_of_a_loss(facility: str, text: str) -> bool:
    """Whether a request to the coordinator may have been sent without its answer being seen."""
    if _COORDINATOR not in text:
        return False
    return facility == _UNANSWERED or (facility == _BROKEN and _WAS_UP in text)
