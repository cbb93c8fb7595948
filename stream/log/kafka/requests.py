"""Admin requests, asked again of a new client where the old one lost them.

librdkafka 2.16 may leave a request without any answer on a busy machine, though the broker answers others meanwhile
(seen: the settings of three topics, 60 s, the broker idle). What is asked here may be asked twice.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Final, TypeVar

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from stream.errors import LogTimeout
from stream.log.kafka.failures import log_error

_LOG = logging.getLogger(__name__)
K = TypeVar("K")
V = TypeVar("V")

#: A request without an answer for so long is lost, if the broker answers another.
TRY_S: Final = 10.0
#: That other: which topics there are.
PROBE_S: Final = 5.0


class AdminRequests:
    """Owns the admin client. `connect` makes one."""

    def __init__(
        self,
        connect: Callable[[], AdminClient],
        *,
        try_s: float = TRY_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connect: Final = connect
        self._try_s: Final = try_s
        self._clock: Final = clock
        self.client = connect()

    def ask(
        self,
        timeout_s: float,
        send: Callable[[AdminClient, float], Mapping[K, Future[V]]],
        what: Callable[[K], str],
        *,
        fine: Collection[int] = (),
    ) -> dict[K, V]:
        """The answers to what `send` (client, seconds) asks, by its keys; without those whose error's code is `fine`.

        LogTimeout after `timeout_s`; LogError at once for an answer that is one.
        """
        deadline_s = self._clock() + timeout_s
        while True:
            began_s = self._clock()
            try_s = max(0.05, min(self._try_s, deadline_s - began_s))
            try:
                return _results(send(self.client, try_s), try_s, what, fine)
            except LogTimeout as late:
                answered = self._clock() - began_s < 0.9 * try_s
                if answered or self._clock() >= deadline_s or not self._replaced(late):
                    raise

    def _replaced(self, late: LogTimeout) -> bool:
        """False: nothing else is answered either, so it is not the client's fault."""
        try:
            self.client.list_topics(timeout=PROBE_S)
        except KafkaException:
            return False
        _LOG.warning("%s, but the broker answers: asking again with a new client", late)
        self.client = self._connect()
        return True


def _results(
    futures: Mapping[K, Future[V]], timeout_s: float, what: Callable[[K], str], fine: Collection[int]
) -> dict[K, V]:
    found: dict[K, V] = {}
    for key, future in futures.items():
        try:
            found[key] = future.result(timeout_s)
        except FutureTimeout as late:
            raise LogTimeout(f"{what(key)}: no answer in {timeout_s:.0f} s") from late
        except KafkaException as raised:
            if raised.args[0].code() not in fine:
                raise log_error(raised.args[0], what(key)) from raised
    return found
