"""Sessions that fill more than half of a work partition's bound: told by their hash, for keys may be secrets."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection
from typing import Final, NamedTuple

from cache.session_key import session_hash
from stream.exactly_once.session_order import SessionKey
from stream.exactly_once.transaction import Ledger
from stream.log.base import Partition
from stream.metrics.base import Metrics

#: A session that stays hot is logged again after so long.
LOG_EVERY_S: Final = 60.0

_LOG = logging.getLogger(__name__)


class HotSession(NamedTuple):
    """Most of what is unfinished in `partition`."""

    partition: Partition
    #: As a log may tell it.
    hash: str
    records: int


def hot_sessions(ledgers: Collection[Ledger], endpoint: str) -> list[HotSession]:
    """At most one a partition. Pure; the records are counted only where a partition is more than half full."""
    found = []
    for book in ledgers:
        half = book.limits.open_records_max / 2
        if len(book.open) <= half:
            continue
        sessions = Counter(_sessions(book)).most_common(1)
        if sessions and sessions[0][1] > half:
            (tenant, session), records = sessions[0]
            found.append(HotSession(book.partition, session_hash(endpoint, tenant, session), records))
    return found


def _sessions(book: Ledger) -> list[SessionKey]:
    works = (record.work for record in book.open.values())
    return [(work.tenant, work.session) for work in works if work is not None and work.session is not None]


class HotSessionWatch:
    """Counts them, and names each in the log now and then."""

    def __init__(self, endpoint: str, metrics: Metrics) -> None:
        self._endpoint = endpoint
        self._metrics = metrics
        self._logged_s: dict[str, float] = {}

    def look(self, ledgers: Collection[Ledger], now_s: float) -> None:
        found = hot_sessions(ledgers, self._endpoint)
        self._metrics.level("headrace_hot_sessions", len(found), endpoint=self._endpoint)
        self._logged_s = {name: at_s for name, at_s in self._logged_s.items() if now_s - at_s < LOG_EVERY_S}
        for hot in found:
            if hot.hash not in self._logged_s:
                self._logged_s[hot.hash] = now_s
                _LOG.warning(
                    "session %s has %d unfinished records in %s, more than half of its bound",
                    hot.hash,
                    hot.records,
                    f"{hot.partition.topic}/{hot.partition.partition}",
                )
