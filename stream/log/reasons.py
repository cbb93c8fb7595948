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

#: The guard refused before anything began: the generation or the member id is not valid (trap 3).
STALE_MEMBER: Final = "stale_member"
#: The limit of an offset map, in UTF-16 characters: the broker's 4096 less the binding's trailing NUL.
METADATA_CHARS_MAX: Final = 4095


def check_metadata(metadata: str) -> None:
    """ValueError for a map that would abort everyone's transaction: our bug, never sent."""
    chars = len(metadata) if metadata.isascii() else len(metadata.encode("utf-16-le")) // 2
    if chars > METADATA_CHARS_MAX:
        raise ValueError(f"offset metadata has {chars} characters, {METADATA_CHARS_MAX} is the most")
    if "\0" in metadata:
        raise ValueError("offset metadata must not contain NUL")
