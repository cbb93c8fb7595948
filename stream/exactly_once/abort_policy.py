"""What an aborted transaction means for what it carried: pure, and the same for every role."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from stream.log import reasons
from stream.log.base import Aborted

#: The broker refused a map that our encoder should have refused: a retry would loop.
MAP_TOO_LARGE: Final = "offset_metadata_too_large"


class Action(StrEnum):
    """What to do next. The answers stay done and unpublished in every case."""

    #: Nothing is wrong with the outputs: poll, wait, try again.
    BACK_OFF = "back_off"
    #: One of several answers cannot be delivered: halve.
    NARROW = "narrow"
    #: The only answer cannot be delivered as it is: it goes in another form.
    GIVE_UP_ANSWER = "give_up_answer"
    #: One of several reply topics is bad: each goes alone from now on.
    SEPARATE = "separate"
    #: The only reply topic is bad: its answers become `unwritable`.
    QUARANTINE = "quarantine"
    #: One of the service's own topics is bad, or we are: stop and alarm.
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Contents:
    """What the policy needs to know of a transaction."""

    #: Records whose outputs it carries.
    sources: int
    #: The reply topics among its outputs; none: they go to the service's own topics alone.
    reply_topics: AbstractSet[str] = field(default_factory=frozenset)
    #: The producer was asked which outputs fail.
    attributed: bool = False


def action_for(outcome: Aborted, contents: Contents) -> Action:
    if outcome.cause == MAP_TOO_LARGE:
        return Action.STOP
    if not outcome.delivery or not contents.sources:
        return Action.BACK_OFF
    alone = contents.sources == 1
    if alone and contents.attributed and not outcome.failed:
        # The refusal was gone when each topic was tried: nobody knows what to put in its place.
        return Action.BACK_OFF
    if reasons.TOO_LARGE in (outcome.cause, *outcome.failed.values()):
        return Action.GIVE_UP_ANSWER if alone else Action.NARROW
    if not contents.reply_topics:
        # A refusal may pass: it stops us once it is known of which output.
        return Action.STOP if alone or outcome.failed else Action.NARROW
    return Action.SEPARATE if len(contents.reply_topics) > 1 else Action.QUARANTINE
