"""Admin requests that are never answered."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, cast

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from stream.errors import LogError, LogTimeout
from stream.log.kafka.requests import AdminRequests


class Client:
    """Answers "yes", or loses every request; `away`: the broker cannot be reached at all."""

    def __init__(self, *, loses: bool = False, away: bool = False, error: int | None = None) -> None:
        self.loses, self.away, self.error = loses, away, error
        self.asked = 0

    def list_topics(self, timeout: float) -> object:
        if self.away:
            raise KafkaException(KafkaError(KafkaError._TRANSPORT))
        return object()

    def send(self) -> Mapping[str, Future[str]]:
        self.asked += 1
        future: Future[str] = Future()
        if self.error is not None:
            future.set_exception(KafkaException(KafkaError(self.error)))
        elif not self.loses:
            future.set_result("yes")
        return {"a": future}


def ask(*clients: Client, timeout_s: float = 5.0, fine: tuple[int, ...] = ()) -> dict[str, str]:
    left = iter(clients)
    requests = AdminRequests(lambda: cast(AdminClient, next(left)), try_s=0.05)

    def send(client: Any, seconds: float) -> Mapping[str, Future[str]]:
        assert 0 < seconds <= 0.05
        found: Mapping[str, Future[str]] = client.send()
        return found

    return requests.ask(timeout_s, send, lambda key: f"settings of {key}", fine=fine)


def test_a_lost_request_is_asked_again_of_a_new_client() -> None:
    lost, good = Client(loses=True), Client()
    assert ask(lost, good) == {"a": "yes"}
    assert (lost.asked, good.asked) == (1, 1)


def test_a_broker_that_answers_nothing_else_either_is_away_and_its_client_is_kept() -> None:
    with pytest.raises(LogTimeout, match="settings of a: no answer"):
        ask(Client(loses=True, away=True))


def test_it_ends_with_the_time_that_was_given() -> None:
    with pytest.raises(LogTimeout, match="settings of a: no answer"):
        ask(*(Client(loses=True) for _ in range(100)), timeout_s=0.2)


def test_an_error_is_told_at_once_unless_it_is_fine() -> None:
    code = KafkaError.TOPIC_ALREADY_EXISTS
    with pytest.raises(LogError, match="settings of a"):
        ask(Client(error=code))
    assert ask(Client(error=code), fine=(code,)) == {}
