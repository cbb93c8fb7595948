"""The alarm at the half of an input's retention: what is told, what is logged, and what is not."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest

from stream.config.settings import InputBinding
from stream.dispatcher.limits import DispatcherLimits
from stream.dispatcher.loop import Dispatcher
from stream.dispatcher.retention import OFF, Half, Oldest, in_words, retention_ms, used
from stream.dispatcher.retention_watch import RetentionWatch
from stream.errors import LogError, LogTimeout
from stream.log.base import Output, Partition, TopicDescription
from stream.log.memory.log import Fault
from stream.metrics.prometheus import PrometheusMetrics
from tests.stream.dispatcher.stage import NOW_MS, Stage, bound, line
from tests.stream.dispatcher.test_set_aside import commit_by_hand
from tests.stream.dispatcher.test_waiting import PAYLOAD, Registry
from tests.stream.metrics.served import value, values

HOUR_MS = 3_600_000
TOPIC = "avro.lines"
A, B = Partition("in", 0), Partition("in", 1)
GAUGE = "headrace_retention_used_ratio"
WIRE = b"\0\0\0\0\x07" + PAYLOAD
RULES = DispatcherLimits(
    poll_s=0, gap_commit_s=0, wait_s=1, wait_max_s=1, lag_every_s=5, retention_every_s=60
)


class House:
    """A dispatcher with an input that needs a registry, and time that the test moves on both clocks."""

    def __init__(self, kept_ms: int = HOUR_MS) -> None:
        self.registry = Registry()
        self.metrics = PrometheusMetrics()
        self.stage = Stage(
            bound(InputBinding(TOPIC, format="avro-registry")), registry=self.registry, rules=RULES
        )
        self.keep(kept_ms)
        parts = replace(
            self.stage.parts,
            metrics=self.metrics,
            now_ms=lambda: NOW_MS + int(self.stage.seconds * 1000),
        )
        self.made = Dispatcher(self.stage.settings, 0, parts, self.stage.admin)
        self.made.start()

    def keep(self, ms: int) -> None:
        self.stage.log._broker.topics[TOPIC].settings["retention.ms"] = str(ms)

    def send(self, *, age_ms: int = 0) -> None:
        written_ms = NOW_MS + int(self.stage.seconds * 1000) - age_ms
        self.stage.log.plain_producer().send(Output(TOPIC, None, WIRE, [], 0, written_ms))

    def later(self, seconds: float) -> float | None:
        """After some turns: the level of the input, None where none is told, 0 also."""
        self.stage.seconds += seconds
        for _ in range(6):
            self.made.turn()
        return values(self.metrics, GAUGE).get(("0", TOPIC))


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [r.getMessage() for r in caplog.records if "retention" in r.name and r.levelno == logging.WARNING]


def test_a_partition_paused_for_the_registry_ages_and_the_half_is_logged_once_each_way(
    caplog: pytest.LogCaptureFixture,
) -> None:
    house = House(10 * HOUR_MS)
    house.send(age_ms=HOUR_MS)
    house.send()
    assert house.later(10) == pytest.approx(0.1, abs=0.001)
    assert house.later(3 * 3600) == pytest.approx(0.4, abs=0.001)
    assert warnings(caplog) == []
    assert house.later(2 * 3600) == pytest.approx(0.6, abs=0.001)
    house.later(60)
    [past] = warnings(caplog)
    assert "avro.lines/0: the oldest record that is not committed is 6 hours old" in past
    assert "keeps records for 10 hours (retention.ms)" in past
    assert "schema registry, quarantine" in past
    house.registry.up = True
    house.later(10)
    assert house.later(10) is None
    assert [text.split(",")[0] for text in warnings(caplog)[1:]] == ["avro.lines/0: well again"]


def test_nothing_that_waits_and_retention_off_are_0() -> None:
    idle, off = House(), House(-1)
    off.send(age_ms=HOUR_MS)
    for house in (idle, off):
        house.later(10)
        assert value(house.metrics, GAUGE, topic=TOPIC, partition="0") == 0


def test_a_partition_set_aside_counts_from_when_it_was_first_seen_waiting() -> None:
    stage = Stage(metrics=PrometheusMetrics(), rules=RULES)
    stage.send(line())
    commit_by_hand(stage, 1, "v1:nonsense")
    stage.send(line())
    made = Dispatcher(
        stage.settings,
        0,
        replace(stage.parts, now_ms=lambda: NOW_MS + int(stage.seconds * 1000)),
        stage.admin,
    )
    made.start()
    week_s = 7 * 24 * 3600
    for _ in range(4):
        made.turn()
        stage.seconds += week_s / 4
    assert isinstance(stage.metrics, PrometheusMetrics)
    assert values(stage.metrics, GAUGE) == {("0", "headrace.requests"): pytest.approx(0.75, abs=0.01)}


class Admin:
    """Of a log where a right is missing."""

    def __init__(self, answer: TopicDescription | LogError) -> None:
        self.answer = answer
        self.asked = 0

    def describe(self, names: Sequence[str], timeout_s: float) -> Mapping[str, TopicDescription | None]:
        self.asked += 1
        if isinstance(self.answer, LogError):
            raise self.answer
        return dict.fromkeys(names, self.answer)


@pytest.mark.parametrize(
    ("answer", "said", "times"),
    [
        (TopicDescription(TOPIC, 1, {}, True), "Allow DescribeConfigs on the topic", 1),
        (LogError("not authorised"), "not authorised", 3),
    ],
)
def test_where_the_retention_may_not_be_read_nothing_is_told_and_the_dispatcher_goes_on(
    caplog: pytest.LogCaptureFixture, answer: TopicDescription | LogError, said: str, times: int
) -> None:
    house = House()
    admin = Admin(answer)
    house.made._lag._retention._admin = admin  # type: ignore[assignment]
    house.send(age_ms=1000 * HOUR_MS)
    assert [house.later(20) for _ in range(7)] == [None] * 7
    assert admin.asked == 3  # once a minute
    assert len(warnings(caplog)) == times
    assert all(said in text for text in warnings(caplog))
    assert GAUGE + "{" not in house.metrics.text()


def test_a_broker_that_was_too_slow_to_tell_the_retention_is_asked_again_at_the_next_look() -> None:
    house = House(10 * HOUR_MS)
    watch = house.made._lag._retention
    well, watch._admin = watch._admin, Admin(LogTimeout("no answer in 1 s"))  # type: ignore[assignment]
    house.send(age_ms=HOUR_MS)
    assert house.later(5) is None
    watch._admin = well
    assert house.later(5) == pytest.approx(0.1, abs=0.001)


def test_a_broker_that_is_always_too_slow_is_asked_less_and_less_often() -> None:
    house = House()
    watch = house.made._lag._retention
    asked: list[float] = []

    class Slow:
        def describe(self, names: object, timeout_s: float) -> object:
            asked.append(house.stage.seconds)
            raise LogTimeout("too slow")

    watch._admin = Slow()  # type: ignore[assignment]
    begin = house.stage.seconds
    for _ in range(60):
        house.stage.seconds += 5
        watch.look([])
    gaps = [later - earlier for earlier, later in pairwise(asked)]
    assert asked[0] - begin <= 60
    assert gaps[:5] == [5, 10, 20, 40, 60]
    assert set(gaps[5:]) <= {60}


def test_a_retention_that_was_raised_is_noticed_within_a_minute() -> None:
    house = House()
    house.send(age_ms=HOUR_MS)
    assert house.later(10) == pytest.approx(1, abs=0.01)
    house.keep(2 * HOUR_MS)
    assert house.later(61) == pytest.approx(0.5, abs=0.01)


def test_the_retention_of_a_topic_that_comes_later_is_read_at_once() -> None:
    house = House()
    house.stage.seconds = 10
    watch = house.made._lag._retention
    watch.look([])  # nothing is assigned yet
    house.send(age_ms=HOUR_MS)
    assert house.later(10) == pytest.approx(1, abs=0.01)


def test_a_partition_that_went_elsewhere_is_told_no_more() -> None:
    house = House()
    house.send(age_ms=HOUR_MS)
    house.later(10)
    watch = house.made._lag._retention
    assert isinstance(watch, RetentionWatch)
    house.made._owned.lost([Partition(TOPIC, 0)])
    watch.look([])
    assert f'{GAUGE}{{partition="0",topic="{TOPIC}"' not in house.metrics.text()


def test_records_whose_transactions_are_aborted_again_and_again_age_too() -> None:
    house = House(10 * HOUR_MS)
    house.registry.up = True
    house.stage.inject(*[Fault.ABORTED] * 6)
    house.send(age_ms=2 * HOUR_MS)
    house.send()
    assert house.later(10) == pytest.approx(0.2, abs=0.001)
    house.later(10)
    assert house.later(10) is None


def test_a_crossing_is_told_once_and_a_level_around_the_half_says_nothing_more() -> None:
    half = Half()
    told = [half.look({A: ratio}) for ratio in (0.1, 0.5, 0.49, 0.51, 0.45, 0.39, 0.3)]
    assert told == [([], []), ([A], []), ([], []), ([], []), ([], []), ([], [A]), ([], [])]


def test_a_partition_that_comes_back_to_us_past_the_half_is_told_again() -> None:
    half = Half()
    assert [half.look(now).past for now in ({A: 0.9}, {}, {A: 0.9})] == [[A], [], [A]]


def test_the_oldest_is_what_is_known_else_what_was_known_else_now() -> None:
    oldest = Oldest()
    assert oldest.look([A, B], {A: 5}, 100) == {A: 5, B: 100}
    assert oldest.look([A, B], {}, 200) == {A: 5, B: 100}
    assert oldest.look([A, B], {B: 7}, 300) == {A: 5, B: 7}
    assert oldest.look([B], {}, 400) == {B: 7}
    assert oldest.look([A, B], {}, 500) == {A: 500, B: 7}


@pytest.mark.parametrize(
    ("oldest_ms", "kept_ms", "ratio"),
    [(None, 100, 0), (50, OFF, 0), (50, 100, 0.5), (0, 50, 2), (500, 100, 0), (99, 0, 1)],
)
def test_the_ratio_is_age_by_retention_and_never_negative(
    oldest_ms: int | None, kept_ms: int, ratio: float
) -> None:
    assert used(oldest_ms, 100, kept_ms) == ratio


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"cleanup.policy": "delete", "retention.ms": "7"}, 7),
        ({"cleanup.policy": "compact,delete", "retention.ms": "7"}, 7),
        ({"cleanup.policy": "compact", "retention.ms": "7"}, OFF),
        ({"retention.ms": "-1"}, OFF),
        ({}, None),
    ],
)
def test_the_retention_of_a_topic(settings: dict[str, str], found: int | None) -> None:
    assert retention_ms(TopicDescription("t", 1, settings)) == found


@pytest.mark.parametrize(
    ("ms", "words"),
    [
        (302_400_000, "3.5 days"),
        (86_400_000, "1 day"),
        (7_200_000, "2 hours"),
        (90_000, "1.5 minutes"),
        (1_500, "1.5 seconds"),
    ],
)
def test_a_length_of_time_in_words(ms: int, words: str) -> None:
    assert in_words(ms) == words
