"""When things happened to a record, in ms since its own timestamp."""

from __future__ import annotations

from typing import Final, NamedTuple


class Times(NamedTuple):
    """None: did not happen."""

    #: Until it stood in the work topic.
    queued: int | None = None
    #: Until an engine took it.
    dispatched: int | None = None
    first_token: int | None = None
    done: int | None = None

    @classmethod
    def since(
        cls,
        source_timestamp_ms: int,
        *,
        queued_ms: int | None = None,
        dispatched_ms: int | None = None,
        first_token_ms: int | None = None,
        done_ms: int | None = None,
    ) -> Times:
        """From instants, in ms since the epoch. Clocks of two machines may disagree: never below 0."""
        instants = (queued_ms, dispatched_ms, first_token_ms, done_ms)
        return cls(*(None if at is None else max(0, at - source_timestamp_ms) for at in instants))


NO_TIMES: Final = Times()
