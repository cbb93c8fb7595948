"""Resolving the broker's jars, with a resolver of the test's own."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from stream.broker.jars import ATTEMPTS_MAX, KAFKA, KAFKA_VERSION, LOG4J_VERSION, classpath, default_cache_dir
from stream.errors import BrokerError

CLIENTS = f"kafka-clients-{KAFKA_VERSION}.jar"
BINDING = f"log4j-slf4j-impl-{LOG4J_VERSION}.jar"


class Repository:
    """Writes the named jars; fails the first `failures` times."""

    def __init__(self, kafka: Sequence[str], failures: int = 0, pause_s: float = 0) -> None:
        self.kafka, self.failures, self.pause_s, self.calls = kafka, failures, pause_s, 0

    def __call__(self, coordinates: str, scratch: Path) -> Sequence[Path]:
        self.calls += 1
        time.sleep(self.pause_s)
        if self.calls <= self.failures:
            raise OSError("no route")
        scratch.mkdir(parents=True, exist_ok=True)
        names = self.kafka if coordinates == KAFKA else [BINDING, "log4j-core-0.jar"]
        for name in names:
            (scratch / name).write_text(name)
        return [scratch / name for name in names]


def test_the_classpath_is_kafkas_jars_and_of_the_binding_log4j_alone(tmp_path: Path) -> None:
    found = classpath(tmp_path, Repository([CLIENTS, "kafka.jar"]))
    assert [jar.name for jar in found] == [CLIENTS, "kafka.jar", "log4j-core-0.jar", BINDING]
    assert all(jar.read_text() == jar.name for jar in found)


def test_what_was_resolved_once_is_not_asked_for_again(tmp_path: Path) -> None:
    repository = Repository([CLIENTS])
    classpath(tmp_path, repository)
    classpath(tmp_path, repository)
    assert repository.calls == 2


def test_two_at_once_download_once(tmp_path: Path) -> None:
    repository = Repository([CLIENTS], pause_s=0.2)
    threads = [threading.Thread(target=classpath, args=(tmp_path, repository)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert repository.calls == 2


def test_a_download_that_was_cut_off_is_started_anew(tmp_path: Path) -> None:
    (tmp_path / "partial" / "repository").mkdir(parents=True)
    (tmp_path / "partial" / "repository" / CLIENTS).write_text("half")
    assert classpath(tmp_path, Repository([CLIENTS], failures=1))[0].read_text() == CLIENTS
    assert not (tmp_path / "partial").exists()


@pytest.mark.parametrize("jars", [[], [CLIENTS, "kafka-clients-3.9.1.jar"], ["kafka-clients-3.9.1.jar"]])
def test_any_other_set_of_kafka_clients_is_refused(tmp_path: Path, jars: list[str]) -> None:
    with pytest.raises(BrokerError, match="one kafka-clients jar"):
        classpath(tmp_path, Repository(jars))
    assert not (tmp_path / "jars").exists()


def test_an_unreachable_repository_names_the_coordinates_and_the_way_round(tmp_path: Path) -> None:
    repository = Repository([], failures=99)
    with pytest.raises(BrokerError, match=rf"{KAFKA}.*no route.*bootstrap_servers"):
        classpath(tmp_path, repository)
    assert repository.calls == ATTEMPTS_MAX


def test_without_a_home_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", nobody)
    with pytest.raises(BrokerError, match="set HOME"):
        default_cache_dir()
