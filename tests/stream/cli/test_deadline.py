"""--timeout bounds a command from its first question on."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from stream.client.consuming import Consuming, Wish
from stream.client.deadline import Deadline
from stream.client.installation import ANSWER_S
from stream.errors import LogTimeout, WaitedTooLong
from stream.log.base import Partition
from stream.log.kafka.admin import KafkaAdmin
from tests.stream.cli.conftest import Run
from tests.stream.client.in_memory import InMemory

#: Nobody listens there.
DEAD = '[kafka]\nbootstrap_servers = "127.0.0.1:1"\n[endpoints.sim]\nengine = "simulated"\n'


@pytest.mark.parametrize("words", [("consume", "x"), ("find", "x"), ("quarantine", "list")])
def test_at_a_dead_broker_a_timeout_ends_the_command_with_exit_3(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    config = tmp_path / "headrace.toml"
    config.write_text(DEAD)
    asked: list[float] = []
    topics = KafkaAdmin.topics

    def noted(self: KafkaAdmin, timeout_s: float) -> Mapping[str, int]:
        asked.append(timeout_s)
        return topics(self, timeout_s)

    monkeypatch.setattr(KafkaAdmin, "topics", noted)
    ended = run(*words, "--timeout", "3", "-c", str(config))
    assert len(asked) == 1
    assert 0 < asked[0] <= 3 < ANSWER_S
    assert ended.code == 3
    assert ended.err.startswith("headrace: not done in 3 s: no answer from the broker at 127.0.0.1:1")


def test_a_question_has_its_own_time_or_what_is_left_of_the_commands() -> None:
    now_s = 0.0
    deadline = Deadline(12, lambda: now_s)
    with deadline.asking(10) as ask_s:
        assert ask_s == 10
    now_s = 9.0
    with deadline.asking(10) as ask_s:
        assert ask_s == 3
    now_s = 12.0
    with pytest.raises(WaitedTooLong), deadline.asking(10):
        pass


def test_a_broker_that_is_silent_for_a_whole_question_is_its_own_error() -> None:
    for timeout_s in (None, 60):
        with pytest.raises(LogTimeout), Deadline(timeout_s).asking(10):
            raise LogTimeout("silent")


def test_what_asking_took_is_not_there_for_reading() -> None:
    here, now_s = InMemory(), 0.0
    here.request("r-1")
    deadline = Deadline(2, lambda: now_s)
    consuming = Consuming(here.log, [Partition(here.requests, 0)], deadline, from_latest=False)
    now_s = 2.0
    with pytest.raises(WaitedTooLong, match="0 records in 2 s, 3 were asked for"):
        next(consuming.looks(Wish(3)))
