"""What an aborted transaction means for what it carried: pure."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from stream.exactly_once.work_item import OWN
from stream.log import reasons
from stream.log.base import Aborted

#: The broker refused a map that our encoder should have refused: a retry would loop.
MAP_TOO_LARGE: Final = "offset_metadata_too_large"


class Action(StrEnum):
    """What to do next; the answers stay DONE in every case."""

    #: Nothing is wrong with the outputs: poll, wait, try again.
    BACK_OFF = "back_off"
    #: One of several answers cannot be delivered: halve.
    NARROW = "narrow"
    #: The only answer cannot be delivered as it is: it becomes `too_large`.
    GIVE_UP_ANSWER = "give_up_answer"
    #: One of several foreign topics is bad: each goes alone from now on.
    SEPARATE = "separate"
    #: The only foreign topic is bad: its answers become `unwritable`.
    QUARANTINE = "quarantine"
    #: One of the service's own topics is bad, or we are: stop and alarm.
    STOP = "stop"


def action_for(outcome: Aborted, kind: str, topics: int, records: int) -> Action:
    """`kind` of the transaction, its number of foreign `topics` and of `records` (sources)."""
    if outcome.cause == MAP_TOO_LARGE:
        return Action.STOP
    if not outcome.delivery or not records:
        return Action.BACK_OFF
    if outcome.cause == reasons.TOO_LARGE or reasons.TOO_LARGE in outcome.failed.values():
        return Action.NARROW if records > 1 else Action.GIVE_UP_ANSWER
    if kind == OWN:
        return Action.STOP
    return Action.SEPARATE if topics > 1 else Action.QUARANTINE
