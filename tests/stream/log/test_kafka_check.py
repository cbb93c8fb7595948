"""Client settings are judged by librdkafka itself, without a broker and without a word about that."""

from __future__ import annotations

import pytest

from stream.log.kafka_check import client_problem


def test_good_settings_are_no_problem_and_nothing_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert client_problem({"socket.keepalive.enable": "true"}) is None
    assert caplog.records == []


def test_a_wrong_value_is_told_in_the_clients_words() -> None:
    assert client_problem({"security.protocol": "FOO"}) == (
        'Invalid value "FOO" for configuration property "security.protocol"'
    )
