"""Transactions that are over for their readers too.

The coordinator answers a commit once it is decided; the markers follow, and until they are there nobody sees the records.
"""

from __future__ import annotations

import time
from typing import Final

from stream.log.base import LogAdmin, Partition

PATIENCE_S: Final = 60.0
ASK_S: Final = 30.0


def await_markers(admin: LogAdmin, *topics: str) -> None:
    """Until nothing on them lies behind an open transaction; nobody may be writing."""
    counts = admin.topics(ASK_S)
    places = [Partition(name, number) for name in topics for number in range(counts[name])]
    until_s = time.monotonic() + PATIENCE_S
    while True:
        highs = {place: marks.high for place, marks in admin.watermarks(places, ASK_S).items()}
        stable = admin.stable_ends(places, ASK_S)
        if stable == highs:
            return
        assert time.monotonic() < until_s, f"open transactions: {stable}, up to {highs}"
        time.sleep(0.05)
