"""Partitions of ours that the client cannot read on: known, looked at again now and then, until something comes of them."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from stream.log.base import Partition
from stream.log.stuck import Stuck
from stream.retry import doubled_s

log = logging.getLogger(__name__)

#: The first look after so long; each next one after twice that, up to the caller's bound.
AGAIN_S = 1.0


@dataclass(slots=True)
class Trouble:
    """One of them."""

    stuck: Stuck
    #: Clock seconds of the next try.
    again_s: float
    tries: int = 0
    #: It was sought and resumed: what comes next shows whether it was mended.
    trying: bool = False


class BlockedPartitions:
    """Decisions alone: whoever owns the consumer pauses, seeks and resumes."""

    def __init__(self) -> None:
        self.troubles: dict[Partition, Trouble] = {}

    def note(self, stuck: Stuck, now_s: float, again_s_max: float) -> None:
        """It is to be paused now. Said once, however often it is tried."""
        place = Partition(stuck.topic, stuck.partition)
        known = self.troubles.get(place)
        if known is None:
            log.error("set aside: %s; `headrace quarantine list` shows the ways on", stuck)
            known = self.troubles[place] = Trouble(stuck, now_s)
        known.stuck, known.trying = stuck, False
        known.tries += 1
        known.again_s = now_s + doubled_s(AGAIN_S, again_s_max, known.tries)

    def holds(self, place: Partition) -> bool:
        """It must stay paused."""
        trouble = self.troubles.get(place)
        return trouble is not None and not trouble.trying

    def takes(self, place: Partition) -> bool:
        """Whether what comes of it counts: not while it should be paused. What comes of a try shows that it is mended."""
        trouble = self.troubles.get(place)
        if trouble is None:
            return True
        if trouble.trying:
            log.warning("%s/%d can be read again", *place)
            del self.troubles[place]
            return True
        return False

    def due(self, now_s: float) -> list[Partition]:
        """To be tried now."""
        return [
            place
            for place, trouble in self.troubles.items()
            if not trouble.trying and trouble.again_s <= now_s
        ]

    def later(self, place: Partition, now_s: float) -> None:
        """It could not even be tried."""
        self.troubles[place].again_s = now_s + AGAIN_S

    def tried(self, place: Partition) -> None:
        """It was sought to where we stand, and resumed."""
        self.troubles[place].trying = True

    def forget(self, places: Iterable[Partition]) -> None:
        """They are somebody else's, or begin anew."""
        for place in places:
            self.troubles.pop(place, None)

    def causes(self) -> Collection[str]:
        return [trouble.stuck.cause for trouble in self.troubles.values()]
