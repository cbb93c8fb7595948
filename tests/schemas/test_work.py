"""A work record is read back as it was written; a later version and strangers are told apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.carry import carry, restore
from schemas.control import Control, ReplyTo, read_control
from schemas.errors import BadRecord, ForeignRecord, NewerVersion
from schemas.headers import Header
from schemas.lane import Lane
from schemas.source import Source
from schemas.work import Routed, WorkHeaders
from schemas.work_record import parse_work
from tests.schemas.strategies import BYTES, FORMATS, HEADER_NAMES, HEADERS, LANE, MILLISECONDS, NAMES, SOURCES

ROUTED = st.builds(
    Routed,
    NAMES,
    NAMES,
    LANE,
    FORMATS,
    st.none() | NAMES,
    st.just("0123456789abcdef"),
    st.integers(0, 1000),
    st.integers(1, 2**40),
)
PLAIN = Routed("sim", "acme", Lane.BATCH, "json", "s-1", None, 3, 7)
SOURCE = Source("in", 1, 2)
WRITER = WorkHeaders()


@given(SOURCES, MILLISECONDS, ROUTED, HEADERS, st.integers(0, 99), BYTES, BYTES)
def test_it_is_read_back_as_it_was_written(
    source: Source,
    timestamp_ms: int,
    routed: Routed,
    headers: list[Header],
    replay: int,
    key: bytes | None,
    value: bytes | None,
) -> None:
    control = Control(carried=carry(headers), replay=replay)
    try:
        wanted = read_control(restore(control.carried))
    except BadRecord:
        return
    record = parse_work(key, value, WRITER.build(source, timestamp_ms, routed, control))
    assert (record.key, record.value, record.source, record.source_timestamp_ms) == (
        key,
        value,
        source,
        timestamp_ms,
    )
    assert (record.endpoint, record.tenant, record.lane, record.format) == (
        routed.endpoint,
        routed.tenant,
        routed.lane,
        routed.format,
    )
    assert record.session == routed.session
    assert record.replay == replay
    assert record.carried == control.carried
    assert (record.deadline_ms, record.reply_to, record.errors) == (
        wanted.deadline_ms,
        wanted.reply_to,
        wanted.errors,
    )


def test_the_headers_are_those_of_the_contract() -> None:
    control = read_control([("headrace-lane", b"batch"), ("mine", b"x"), ("headrace-replay", b"2")])
    assert WRITER.build(SOURCE, 1764400000000, PLAIN, control) == [
        ("headrace-version", b"1"),
        ("headrace-source", b"in/1/2"),
        ("headrace-source-timestamp", b"1764400000000"),
        ("headrace-session", b"s-1"),
        ("headrace-endpoint", b"sim"),
        ("headrace-tenant", b"acme"),
        ("headrace-lane", b"batch"),
        ("headrace-format", b"json"),
        ("headrace-slice", b"3"),
        ("headrace-map", b"7"),
        ("headrace-replay", b"2"),
        ("headrace-in.lane", b"batch"),
        ("mine", b"x"),
    ]


def test_a_prefix_key_is_a_route_and_no_session() -> None:
    routed = Routed("sim", "acme", Lane.BATCH, "json", None, "00ff", 3, 7)
    headers = WRITER.build(SOURCE, 0, routed)
    assert ("headrace-route", b"00ff") in headers
    assert parse_work(None, b"", headers).session is None


def test_the_control_headers_are_read_again_from_the_kept_ones() -> None:
    control = read_control(
        [
            ("headrace-deadline-ms", b"5"),
            ("headrace-reply-to", b"r:1"),
            ("headrace-errors", b"result"),
            ("mine", b"x"),
        ]
    )
    record = parse_work(None, b"", WRITER.build(SOURCE, 0, PLAIN, control))
    assert (record.deadline_ms, record.reply_to, record.errors) == (5, ReplyTo("r", 1), "result")
    assert record.passing == [("mine", b"x")]
    assert [name for name, _ in record.kept] == [
        "headrace-in.deadline-ms",
        "headrace-in.reply-to",
        "headrace-in.errors",
    ]


def changed(name: str, value: bytes | None) -> list[Header]:
    return [(n, value if n == name else v) for n, v in WRITER.build(SOURCE, 0, PLAIN)]


def test_a_higher_version_is_an_error_of_its_own() -> None:
    with pytest.raises(NewerVersion, match="version 2; this program reads up to 1"):
        parse_work(None, b"", changed("headrace-version", b"2"))


@pytest.mark.parametrize("value", [None, b"", b"x", b"\xff", b"-1", b"9" * 5_000])
@pytest.mark.parametrize(
    "name", ["headrace-version", "headrace-source", "headrace-source-timestamp", "headrace-lane"]
)
def test_a_garbled_header_of_ours_is_foreign(name: str, value: bytes | None) -> None:
    if (name, value) == ("headrace-source-timestamp", b"-1"):
        return  # Kafka's own "no timestamp".
    with pytest.raises(ForeignRecord):
        parse_work(None, b"", changed(name, value))


@given(
    st.lists(st.tuples(HEADER_NAMES | st.sampled_from([n for n, _ in WRITER.build(SOURCE, 0, PLAIN)]), BYTES))
)
def test_any_headers_are_read_or_foreign(headers: list[Header]) -> None:
    try:
        parse_work(None, b"", headers)
    except (ForeignRecord, NewerVersion):
        return


def test_no_headers_are_foreign() -> None:
    with pytest.raises(ForeignRecord, match="headrace-version is missing"):
        parse_work(None, b"", None)


def test_constant_headers_are_forgotten_beyond_their_bound() -> None:
    writer = WorkHeaders()
    for index in range(10_005):
        writer.build(SOURCE, 0, Routed("sim", f"t{index}", Lane.BATCH, "json", None, "r", index, 1))
    assert len(writer._fixed) <= 10_000
    assert len(writer._places) <= 10_000
