"""What must never be sent: refused by both logs before a transaction begins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from stream.log.base import GroupStamp, OffsetCommit

#: The limit of an offset map, in UTF-16 characters: the broker's 4096 less the binding's trailing NUL.
METADATA_CHARS_MAX: Final = 4095
#: One record. Our own refusal is the topic's limit, not the client's: above the dead-letter topics' 17 MiB and their headers.
MESSAGE_BYTES_MAX: Final = 20 * 1024 * 1024


def check_offsets(offsets: Sequence[OffsetCommit], group: GroupStamp | None) -> None:
    """ValueError for our own bugs: offsets without a member to fence them, a map over its limit."""
    if offsets and group is None:
        raise ValueError("offsets need the group stamp that fences a zombie's")
    for commit in offsets:
        check_metadata(commit.metadata)


def check_metadata(metadata: str) -> None:
    """ValueError for a map that would abort everyone's transaction."""
    chars = len(metadata) if metadata.isascii() else len(metadata.encode("utf-16-le")) // 2
    if chars > METADATA_CHARS_MAX:
        raise ValueError(f"offset metadata has {chars} characters, {METADATA_CHARS_MAX} is the most")
    if "\0" in metadata:
        raise ValueError("offset metadata must not contain NUL")
