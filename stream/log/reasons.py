"""Why a record was not delivered, as short labels that both logs use in `Aborted.failed` and its `cause`."""

from __future__ import annotations

from typing import Final

#: The record, or the batch it went in, is larger than the topic takes: dead letter `too_large` if it failed alone.
TOO_LARGE: Final = "too_large"
UNKNOWN_TOPIC: Final = "unknown_topic"
UNKNOWN_PARTITION: Final = "unknown_partition"
UNAUTHORISED: Final = "unauthorised"
#: The topic refuses this kind of record: a null key where it is compacted, a timestamp it does not take.
REFUSED: Final = "refused"

#: The target is bad, not the moment: dead letter `unwritable`.
UNWRITABLE: Final = frozenset({UNKNOWN_TOPIC, UNKNOWN_PARTITION, UNAUTHORISED, REFUSED})
#: Trying the same again cannot help.
PERMANENT: Final = UNWRITABLE | {TOO_LARGE}

#: The guard refused before anything began: the generation or the member id is not valid.
STALE_MEMBER: Final = "stale_member"
#: Nothing was begun, for the producer had to take its id anew: another process may have had it meanwhile.
RENEWED: Final = "renewed"


def may_blame_topic(cause: str) -> bool:
    """A failure without a delivery report that a bad topic would give: a commit that waited for it in vain."""
    return "timed_out" in cause
