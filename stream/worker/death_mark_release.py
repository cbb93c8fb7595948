"""The end by an error that no record is to blame for: our death marks are taken back, as in an orderly revoke.

What the ledgers hold at such a moment is not trusted: each map goes back to what was committed last, with one death
less. A programmer's error is no such end, for a record may have brought it about: it counts as a death.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable
from typing import Final

from stream.errors import LogError, LogFenced, LogTimeout
from stream.exactly_once.offset_map import decode, encode
from stream.exactly_once.transaction import Ledger
from stream.log.base import LogConsumer, LogProducer, OffsetCommit, Success
from stream.worker.assignment import Left
from workers.errors import EngineBroken

_LOG = logging.getLogger(__name__)

#: Higher than any log ends: what we committed ourselves need not be held against it.
_LOG_END: Final = 2**62


def blames_no_record(error: BaseException) -> bool:
    """A broken engine, or a log that refused us. Not one that is silent or another's: no transaction would go through."""
    if isinstance(error, EngineBroken):
        return True
    return isinstance(error, LogError) and not isinstance(error, LogFenced | LogTimeout)


def take_back(
    ledgers: Iterable[Ledger], producer: LogProducer, consumer: LogConsumer, released: Callable[[], None]
) -> bool:
    """One try. `released`: what happens there from now on is no longer ours to tell. True: it is committed."""
    offsets = [commit for book in ledgers if (commit := _without_us(book)) is not None]
    if not offsets:
        return False
    done = False
    with contextlib.suppress(LogError):  # what ends us is told, not what follows from it
        done = isinstance(producer.publish([], offsets, consumer.group()), Success)
    if done:
        released()
    else:
        _LOG.warning("our death marks could not be taken back: this end counts as a death")
    return done


def _without_us(ledger: Ledger) -> OffsetCommit | None:
    left = Left.of(ledger)
    if left is None:
        return None
    base, metadata = left.committed
    return OffsetCommit(*ledger.partition, base, encode(left.without_us(decode(metadata, base, _LOG_END))))
