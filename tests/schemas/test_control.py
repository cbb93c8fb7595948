"""Control headers: read, bounded, and never trusted further than they say."""

from __future__ import annotations

import pytest

from schemas.control import NO_CONTROL, Control, ReplyTo, read_control
from schemas.errors import BadRecord
from schemas.failure import ErrorClass, Stage
from schemas.headers import Header
from schemas.lane import Lane


def test_no_headers_cost_nothing() -> None:
    assert read_control(None) is NO_CONTROL
    assert read_control([], b"key") is NO_CONTROL


def test_every_control_header_is_read() -> None:
    headers: list[Header] = [
        ("headrace-session", "sé".encode()),
        ("headrace-tenant", b"acme"),
        ("headrace-lane", b"interactive"),
        ("headrace-deadline-ms", b"1764400000000"),
        ("headrace-reply-to", b"headrace.replies.a:3"),
        ("headrace-errors", b"result"),
        ("headrace-order", b"none"),
        ("mine", b"1"),
    ]
    control = read_control(headers)
    assert control == Control(
        session="sé",
        tenant="acme",
        lane=Lane.INTERACTIVE,
        deadline_ms=1764400000000,
        reply_to=ReplyTo("headrace.replies.a", 3),
        errors="result",
        order="none",
        carried=control.carried,
    )


def test_a_reply_topic_may_come_without_a_partition() -> None:
    assert read_control([("headrace-reply-to", b"a.b")]).reply_to == ReplyTo("a.b", None)


def test_the_last_of_a_repeated_header_wins() -> None:
    assert read_control([("headrace-tenant", b"a"), ("headrace-tenant", b"b")]).tenant == "b"


@pytest.mark.parametrize("nothing", [None, b""])
@pytest.mark.parametrize("name", ["session", "tenant", "lane", "deadline-ms", "reply-to", "errors", "order"])
def test_null_and_empty_headers_count_as_absent(name: str, nothing: bytes | None) -> None:
    control = read_control([(f"headrace-{name}", nothing)])
    assert control == Control(carried=((f"headrace-in.{name}", nothing),))


def test_a_null_after_a_value_is_absent_and_the_value_stands() -> None:
    assert read_control([("headrace-tenant", b"a"), ("headrace-tenant", None)]).tenant == "a"


def test_forged_service_headers_mean_nothing_and_are_kept() -> None:
    forged: list[Header] = [
        ("headrace-source", b"x/0/0"),
        ("headrace-version", b"99"),
        ("headrace-nonsense", b"\xff"),
    ]
    control = read_control(forged)
    assert control == Control(carried=control.carried)
    assert [name for name, _ in control.carried] == [
        "headrace-in.source",
        "headrace-in.version",
        "headrace-in.nonsense",
    ]


def test_500_headers_repeated_empty_and_null_are_good() -> None:
    headers: list[Header] = [("h", b"x"), ("h", b""), ("", None), ("h", None)] * 125
    assert read_control(headers).carried == tuple(headers)


LIES: dict[str, tuple[Header, str]] = {
    "lane gold": (
        ("headrace-lane", b"gold"),
        "header headrace-lane: 'gold' is wrong; right is one of provisioned",
    ),
    "lane not UTF-8": (("headrace-lane", b"\xff"), r"right is UTF-8 text"),
    "session not UTF-8": (("headrace-session", b"\xc3"), "header headrace-session: .*UTF-8"),
    "tenant not UTF-8": (("headrace-tenant", b"\xff\xfe"), "header headrace-tenant: .*UTF-8"),
    "session of 257 bytes": (("headrace-session", b"s" * 257), "257 bytes; right is at most 256"),
    "tenant of 257 bytes": (("headrace-tenant", "é".encode() * 129), "258 bytes; right is at most 256"),
    "deadline soon": (("headrace-deadline-ms", b"soon"), "'soon' is wrong; right is milliseconds since 1970"),
    "deadline negative": (("headrace-deadline-ms", b"-1"), "milliseconds"),
    "deadline 2^63": (("headrace-deadline-ms", str(2**63).encode()), "milliseconds"),
    "deadline of many digits": (("headrace-deadline-ms", b"9" * 10_000), "milliseconds"),
    "deadline with a point": (("headrace-deadline-ms", b"1.5"), "milliseconds"),
    "deadline not UTF-8": (("headrace-deadline-ms", b"\xff"), "milliseconds"),
    "reply-to with a space": (("headrace-reply-to", b"a b"), "topic or topic:partition"),
    "reply-to without a topic": (("headrace-reply-to", b":1"), "a topic has a name"),
    "reply-to a dot": (("headrace-reply-to", b".."), "a topic has a name"),
    "reply-to too long": (("headrace-reply-to", b"a" * 250), "at most 249"),
    "reply-to partition x": (("headrace-reply-to", b"a:x"), "the partition a number"),
    "reply-to partition -1": (("headrace-reply-to", b"a:-1"), "the partition a number"),
    "reply-to partition empty": (("headrace-reply-to", b"a:"), "the partition a number"),
    "reply-to not UTF-8": (("headrace-reply-to", b"\xff"), "UTF-8"),
    "order serial": (
        ("headrace-order", b"serial"),
        "header headrace-order: 'serial' is wrong; right is none",
    ),
    "order not UTF-8": (("headrace-order", b"\xff"), "right is none"),
    "errors maybe": (("headrace-errors", b"maybe"), "dead-letter or result"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_header_that_lies_is_invalid(name: str) -> None:
    header, message = LIES[name]
    with pytest.raises(BadRecord, match=message) as caught:
        read_control([header])
    failure = caught.value.failure
    assert (failure.error_class, failure.stage) == (ErrorClass.INVALID, Stage.VALIDATE)
    assert len(failure.message) < 500


def test_names_of_256_bytes_are_good() -> None:
    assert read_control([("headrace-session", b"s" * 256)]).session == "s" * 256


def test_key_and_headers_together_are_bounded() -> None:
    read_control([("h", b"x" * 65_530)], b"12345")
    with pytest.raises(
        BadRecord, match="key and headers of 65537 bytes are too large; at most 65536"
    ) as caught:
        read_control([("h", b"x" * 65_530)], b"123456")
    assert (caught.value.failure.error_class, caught.value.failure.stage) == (
        ErrorClass.UNREADABLE,
        Stage.DECODE,
    )
    read_control(None, b"k" * 65_536)
    with pytest.raises(BadRecord, match="too large"):
        read_control(None, b"k" * 65_537)


def test_the_replay_count_is_read_from_the_last_header_only() -> None:
    assert read_control([("a", b"1"), ("headrace-replay", b"3")]).replay == 3
    assert read_control([("headrace-replay", b"3"), ("a", b"1")]).replay == 0
    assert read_control([("headrace-replay", b"many")]).replay == 0
