"""What is shown while a batch runs, and what is told when nobody answers."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from stream.client.progress import Progress, Tempo
from stream.errors import LogTimeout, StreamError
from stream.run_batch.quiet import GIVE_UP_S, LOOK_EVERY_S, Quiet
from stream.run_batch.show import Shown


def test_progress_tells_rows_rate_and_a_range_of_time_left() -> None:
    tempo = Tempo(1_000, 0, 0.0)
    assert tempo.look(0, 0, 1.0).words() == "0 of 1,000 (0 %), 0.0/s, time left not known yet"
    assert tempo.look(400, 2, 20.0).words() == "400 of 1,000 (40 %), 20.0/s, 27 s to 33 s left, 2 errors"
    assert tempo.look(1_000, 1, 50.0).words() == "1,000 of 1,000 (100 %), 20.0/s, 1 error"


def test_the_rate_is_that_of_the_last_minute() -> None:
    tempo = Tempo(100_000, 0, 0.0)
    for second in range(1, 200):
        seen = tempo.look(1_000 if second > 100 else 10 * second, 0, float(second))
    assert seen.rate_per_s == 0
    assert seen.left_s is None


def test_a_batch_that_goes_on_does_not_count_what_was_done_before() -> None:
    assert Tempo(1_000, 900, 0.0).look(910, 0, 10.0).rate_per_s == 1.0


def test_without_a_terminal_it_is_plain_lines_now_and_then() -> None:
    told = io.StringIO()
    with Shown(Console(file=told), "lines") as show:
        for second in range(31):
            show.update(Progress(second, 0, 30, 1.0, (1.0, 2.0)), float(second))
    assert [line.split(",")[0] for line in told.getvalue().splitlines()] == [
        "lines 0 of 30 (0 %)",
        "lines 10 of 30 (33 %)",
        "lines 20 of 30 (66 %)",
        "lines 30 of 30 (100 %)",
    ]


def test_a_silent_service_is_told_once_and_given_up_in_the_end() -> None:
    said: list[str] = []
    quiet = Quiet(lambda: False, said.append, 0.0)
    now_s = 0.0
    while now_s < GIVE_UP_S - LOOK_EVERY_S:
        now_s += LOOK_EVERY_S
        quiet.check(now_s)
    assert said == ["waiting: no worker tells of itself (see `headrace status`)"]
    with pytest.raises(StreamError, match="the same command goes on"):
        quiet.check(GIVE_UP_S)


def test_a_worker_that_beats_may_take_as_long_as_it_likes() -> None:
    said: list[str] = []
    quiet = Quiet(lambda: True, said.append, 0.0)
    for look in range(1, 100):
        quiet.check(look * LOOK_EVERY_S)
    assert said == []


def test_a_broker_that_is_away_is_told() -> None:
    def away() -> bool:
        raise LogTimeout("no answer")

    said: list[str] = []
    Quiet(away, said.append, 0.0).check(LOOK_EVERY_S)
    assert said == ["waiting: the broker does not answer"]
