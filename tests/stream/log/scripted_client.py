"""A librdkafka producer whose calls fail as a script says."""

from __future__ import annotations

import logging
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from types import SimpleNamespace

from confluent_kafka import KafkaError, KafkaException

from stream.log.kafka.watch import CoordinatorWatch


def kafka_error(
    code: int, *, fatal: bool = False, retriable: bool = False, abort: bool = False
) -> KafkaException:
    return KafkaException(KafkaError(code, "scripted", fatal, retriable, abort))


TIMED_OUT = kafka_error(KafkaError._TIMED_OUT, retriable=True)
FENCED = kafka_error(KafkaError._FENCED, fatal=True)
FATAL = kafka_error(KafkaError.INVALID_PRODUCER_EPOCH, fatal=True)
NO_FLAG = kafka_error(KafkaError._STATE)
ABORTABLE = kafka_error(KafkaError.ILLEGAL_GENERATION, abort=True)


class Script:
    """What each call answers, in turn; after the script, all is well. Keeps the calls of all clients."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.arguments: list[tuple[object, ...]] = []
        self.clients = 0
        self.now = 0.0
        #: Log lines (facility, client, text) that the next `poll` serves.
        self.lines: list[tuple[str, str, str]] = []
        #: Records that no flush delivers, and the topics that the broker knows.
        self.undelivered = 0
        self.topics: list[str] = []
        #: Why records failed: the reports that the next `flush` serves.
        self.reports: list[int] = []
        #: Seconds that a call of this name takes.
        self.takes: dict[str, float] = {}
        self._answers: dict[str, deque[Exception]] = defaultdict(deque)
        self._always: dict[str, Exception] = {}

    def fail(self, call: str, *errors: Exception) -> None:
        self._answers[call].extend(errors)

    def fail_always(self, call: str, error: Exception) -> None:
        self._always[call] = error

    def connect(self, settings: Mapping[str, object]) -> ScriptedClient:
        self.clients += 1
        return ScriptedClient(self, settings["logger"], settings["on_delivery"])

    def clock(self) -> float:
        return self.now

    def answer(self, call: str, *arguments: object) -> None:
        self.calls.append(call)
        self.arguments.append(arguments)
        self.now += self.takes.get(call, 0.001)
        if self._answers[call]:
            raise self._answers[call].popleft()
        if call in self._always:
            raise self._always[call]


class ScriptedClient:
    """The methods that a transaction uses."""

    def __init__(self, script: Script, logger: object, on_delivery: object) -> None:
        assert isinstance(logger, CoordinatorWatch)
        assert callable(on_delivery)
        self._script = script
        self._on_delivery = on_delivery
        self._logger = logger

    def _call(name: str) -> Callable[..., None]:  # type: ignore[misc]
        def call(self: ScriptedClient, *arguments: object) -> None:
            self._script.answer(name, *arguments)

        return call

    init_transactions = _call("init")
    begin_transaction = _call("begin")
    produce = _call("produce")
    send_offsets_to_transaction = _call("send_offsets")
    commit_transaction = _call("commit")
    abort_transaction = _call("abort")

    def flush(self, timeout_s: float) -> int:
        self._script.now += timeout_s if self._script.undelivered else 0
        while self._script.reports:
            self._on_delivery(KafkaError(self._script.reports.pop()), None)
        return self._script.undelivered

    def list_topics(self, timeout: float) -> SimpleNamespace:
        self._script.answer("list_topics", timeout)
        return SimpleNamespace(topics=dict.fromkeys(self._script.topics))

    def poll(self, timeout_s: float) -> int:
        self._script.now += timeout_s
        while self._script.lines:
            self._logger.log(logging.INFO, "%s [%s] %s", *self._script.lines.pop(0))
        return 0

    def purge(self) -> None:
        """Nothing is held."""
