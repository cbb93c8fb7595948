"""Client settings are judged by librdkafka itself, without a broker and without a word about that."""

from __future__ import annotations

import pytest

from stream.log.kafka.settings_check import client_problems


def test_good_settings_are_no_problem_and_nothing_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    assert client_problems({"socket.keepalive.enable": "true"}) == []
    assert caplog.records == []


def test_a_wrong_value_is_told_in_the_clients_words() -> None:
    assert client_problems({"security.protocol": "FOO"}) == [
        'Invalid value "FOO" for configuration property "security.protocol"'
    ]


def test_every_wrong_setting_is_told_at_once() -> None:
    assert client_problems(
        {"foo.bar": "1", "linger.ms": "5", "linger.mss": "5", "socket.timeout.ms": "1"}
    ) == [
        'No such configuration property: "foo.bar"',
        'No such configuration property: "linger.mss"',
        'Configuration property "socket.timeout.ms" value 1 is outside allowed range 10..300000',
    ]


def test_settings_that_need_each_other_are_told_together() -> None:
    [problem] = client_problems({"security.protocol": "sasl_ssl", "sasl.mechanisms": "PLAIN"})
    assert "sasl" in problem
    named = {"sasl.username": "u", "sasl.password": "p"}
    assert client_problems({"security.protocol": "sasl_ssl", "sasl.mechanisms": "PLAIN", **named}) == []
