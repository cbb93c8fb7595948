"""What `consume` reads, on the log in memory; and that it says where the broker is away."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from stream.cli.broker_away import ASK_EVERY_S, BrokerAway
from stream.client.consuming import Consuming, Wish
from stream.client.deadline import Deadline
from stream.client.record_line import value_line
from stream.errors import LogTimeout, WaitedTooLong
from stream.log.base import Partition, Record
from stream.log.memory.admin import MemoryAdmin
from stream.log.memory.log import MemoryLog
from tests.stream.client.in_memory import InMemory


def read(here: InMemory, wish: Wish, looked: Callable[[bool], None] = lambda _: None) -> list[bytes | None]:
    found: list[Record] = []
    consuming = Consuming(here.log, [Partition(here.requests, 0)], Deadline(None), from_latest=False)
    for look in consuming.looks(wish):
        found += look.records
        looked(look.came)
    return [record.value() for record in found]


def test_only_records_of_a_custom_id_are_told_and_counted() -> None:
    here = InMemory()
    for name in ("a", "b", "a", "a", "c"):
        here.request(name)
    here.put(here.requests, b"not json")
    assert read(here, Wish(custom_id="a")) == [b'{"custom_id": "a"}'] * 3
    assert read(here, Wish(2, custom_id="a")) == [b'{"custom_id": "a"}'] * 2
    assert read(here, Wish(custom_id="d")) == []


def test_what_comes_later_is_followed() -> None:
    here = InMemory()
    here.request("a")
    turns = iter(["b", "c"])

    def looked(came: bool) -> None:
        if came and (name := next(turns, None)) is not None:
            here.request(name)

    found: list[bytes | None] = []
    consuming = Consuming(here.log, [Partition(here.requests, 0)], Deadline(None), from_latest=False)
    looks = consuming.looks(Wish(follow=True))
    while len(found) < 3:
        look = next(looks)
        found += [record.value() for record in look.records]
        looked(look.came)
    looks.close()
    assert found == [b'{"custom_id": "%s"}' % name for name in (b"a", b"b", b"c")]


def test_a_time_limit_ends_following_too() -> None:
    here, now_s = InMemory(), 0.0
    deadline = Deadline(2, lambda: now_s)
    here.request("a")
    consuming = Consuming(here.log, [Partition(here.requests, 0)], deadline, from_latest=False)
    now_s = 2.0
    with pytest.raises(WaitedTooLong, match="0 records in 2 s, more may come"):
        next(consuming.looks(Wish(follow=True)))


@pytest.mark.parametrize(
    ("value", "line"),
    [
        (b' {"a":  1} ', '{"a":  1}'),
        (b'{"a":\n1}', '{"a":1}'),
        (b"plain text", "plain text"),
        (b"two\nlines", '"two\\nlines"'),
        (b"ends\n", '"ends\\n"'),
        (b"\xff\xfe", "//4="),
        ("ü\u2028".encode(), '"ü\\u2028"'),
        (b"", '""'),
        (None, "null"),
    ],
)
def test_a_value_alone_is_one_line(value: bytes | None, line: str) -> None:
    here = InMemory()
    here.put(here.requests, value)
    consuming = Consuming(here.log, [Partition(here.requests, 0)], Deadline(None), from_latest=False)
    assert [value_line(record) for look in consuming.looks(Wish()) for record in look.records] == [line]


class Broker(MemoryAdmin):
    """Answers, or does not."""

    away = False

    def topics(self, timeout_s: float) -> Mapping[str, int]:
        if self.away:
            raise LogTimeout("no answer")
        return {}


def test_a_broker_that_is_away_is_told_once_and_that_it_is_back_once() -> None:
    told: list[str] = []
    now_s = 0.0
    broker = Broker(MemoryLog()._broker)
    away = BrokerAway(broker, told.append, lambda: now_s)
    away.looked(came=False)
    assert told == []
    broker.away = True
    for _ in range(3):
        now_s += ASK_EVERY_S
        away.looked(came=False)
    assert told == ["the broker does not answer: waiting for it"]
    broker.away = False
    now_s += ASK_EVERY_S
    away.looked(came=False)
    assert told[1:] == ["the broker answers again"]
