"""A login that the brokers refuse is told at once, with words about the login."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, KafkaException

from stream.broker import EmbeddedBroker
from stream.broker.ports import HOST, Ports, choose_ports
from stream.errors import BrokerError, LoginRefused
from stream.log.kafka.log import kafka_log
from stream.log.kafka.login import LOGIN_S, check_login
from stream.log.kafka.settings import Settings
from stream.process_context import ProcessContext

PATIENCE_S = 120.0

LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "alice",
    "sasl.password": "wrong",
}


class Scripted:
    """An admin client whose events and answers are given."""

    def __init__(self, events: list[int], answers_after: int | None = None) -> None:
        self.events = events
        self.asked = 0
        self._answers_after = answers_after
        self._tell: object = None

    def connect(self, settings: Settings) -> Scripted:
        self._tell = settings["error_cb"]
        return self

    def list_topics(self, topic: str | None = None, timeout: float = -1) -> object:
        self.asked += 1
        if self._answers_after is not None and self.asked > self._answers_after:
            return {}
        raise KafkaException(KafkaError(KafkaError._TRANSPORT))

    def poll(self, timeout: float) -> int:
        assert callable(self._tell)
        for code in self.events:
            self._tell(KafkaError(code, "the broker's words"))
        return len(self.events)


class Seconds:
    """Each look at the clock takes half a second."""

    now_s = 0.0

    def __call__(self) -> float:
        self.now_s += 0.5
        return self.now_s


def test_refused_credentials_are_told_with_the_name_the_mechanism_and_the_brokers_words() -> None:
    client = Scripted([KafkaError._AUTHENTICATION, KafkaError._ALL_BROKERS_DOWN])
    with pytest.raises(LoginRefused, match="refuses the login of 'alice' by PLAIN: the broker's words"):
        check_login("b:9092", LOGIN, connect=client.connect, clock_s=Seconds())
    assert client.asked == 1


def test_a_certificate_that_is_not_trusted_is_told_too() -> None:
    client = Scripted([KafkaError._SSL])
    with pytest.raises(LoginRefused, match="no safe connection to the broker at b:9092: the broker's words"):
        check_login("b:9092", {"security.protocol": "SSL"}, connect=client.connect, clock_s=Seconds())


def test_a_broker_that_is_away_is_left_to_others_to_tell() -> None:
    client, clock = Scripted([KafkaError._ALL_BROKERS_DOWN, KafkaError._TRANSPORT]), Seconds()
    check_login("b:9092", LOGIN, connect=client.connect, clock_s=clock)
    assert clock.now_s <= LOGIN_S + 2


def test_a_broker_that_answers_late_is_waited_for() -> None:
    client = Scripted([KafkaError._TRANSPORT], answers_after=3)
    check_login("b:9092", LOGIN, connect=client.connect, clock_s=Seconds())
    assert client.asked == 4


def test_without_a_login_nothing_is_asked() -> None:
    client = Scripted([KafkaError._AUTHENTICATION])
    check_login("b:9092", {"client.id": "x"}, connect=client.connect, clock_s=Seconds())
    assert client.asked == 0


# ---- on Kafka ---------------------------------------------------------------------------------------------------------


def _with_a_login(ports: Ports) -> dict[str, str]:
    """`proxied` becomes a listener that wants a name and a password."""
    listeners = f"PLAINTEXT://{HOST}:{ports.client},CONTROLLER://{HOST}:{ports.controller},LOGIN://{HOST}:{ports.proxied}"
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    return {
        "listeners": listeners,
        "advertised.listeners": f"PLAINTEXT://{HOST}:{ports.client},LOGIN://{HOST}:{ports.proxied}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,LOGIN:SASL_PLAINTEXT",
        "listener.name.login.sasl.enabled.mechanisms": "PLAIN",
        "listener.name.login.plain.sasl.jaas.config": f'{module} required user_alice="right";',
    }


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The servers of a listener where alice may come in with the password `right`."""
    ports = choose_ports(random.Random(), proxied=True)
    broker = EmbeddedBroker(
        tmp_path_factory.mktemp("guarded"), extra_properties=_with_a_login(ports), ports=ports
    )
    try:
        broker.start()
    except BrokerError as error:
        pytest.skip(str(error))
    yield f"{HOST}:{ports.proxied}"
    broker.stop()


@pytest.mark.broker
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({}, "refuses the login of 'alice' by PLAIN: "),
        ({"sasl.mechanism": "SCRAM-SHA-256"}, "refuses the login of 'alice' by SCRAM-SHA-256: "),
    ],
)
def test_a_real_broker_that_refuses_is_told_in_its_own_words(
    guarded: str, tmp_path: Path, change: dict[str, str], words: str
) -> None:
    with pytest.raises(LoginRefused, match=words):
        kafka_log(ProcessContext(guarded, tmp_path, "test", {**LOGIN, **change}))


@pytest.mark.broker
def test_a_real_broker_lets_in_who_has_the_right_password(guarded: str, tmp_path: Path) -> None:
    log = kafka_log(ProcessContext(guarded, tmp_path, "test", {**LOGIN, "sasl.password": "right"}))
    assert log.admin().topics(30) is not None


@pytest.mark.broker
@pytest.mark.parametrize("command", ["status", "dispatcher --slot 0", "up"])
def test_any_command_and_role_says_so(guarded: str, tmp_path: Path, command: str) -> None:
    config = tmp_path / "headrace.toml"
    client = ", ".join(f'"{name}" = "{value}"' for name, value in LOGIN.items())
    config.write_text(
        f'[kafka]\nbootstrap_servers = "{guarded}"\nclient = {{ {client} }}\n'
        '[endpoints.sim]\nengine = "simulated"\n'
    )
    words = [*command.split(), "-c", str(config), "--state-dir", str(tmp_path / "state")]
    ended = subprocess.run(
        [sys.executable, "-m", "stream", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert ended.returncode == 1
    assert "refuses the login of 'alice' by PLAIN" in ended.stderr
