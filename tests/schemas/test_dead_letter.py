"""A dead letter keeps the original byte for byte, says why, and never fails by its own size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.carry import carry
from schemas.control import headers_size
from schemas.dead_letter import DeadLetter, parse_dead_letter, write_dead_letter
from schemas.errors import ForeignRecord, NewerVersion
from schemas.failure import ErrorClass, Failure, Stage
from schemas.headers import Header
from schemas.lane import Lane
from schemas.message_text import MESSAGE_BYTES_MAX, shorten
from schemas.source import Source
from tests.schemas.strategies import BYTES, FORMATS, HEADERS, LANE, MILLISECONDS, NAMES, SOURCES

FAILURE = Failure(ErrorClass.INVALID, Stage.VALIDATE, "$.body: missing")
SOURCE = Source("in", 1, 2)

LETTERS = st.builds(
    DeadLetter,
    key=BYTES,
    value=BYTES,
    carried=HEADERS.map(carry),
    source=SOURCES,
    source_timestamp_ms=MILLISECONDS,
    group=NAMES,
    failure=st.builds(
        Failure,
        st.sampled_from(ErrorClass),
        st.sampled_from(Stage),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=100),
        st.none() | st.integers(0, 2**40),
    ),
    attempts=st.integers(0, 99),
    replay=st.integers(0, 99),
    tenant=st.none() | NAMES,
    lane=st.none() | LANE,
    endpoint=st.none() | NAMES,
    format=st.none() | FORMATS,
)


def letter(
    value: bytes | None = b"{}", headers: list[Header] | None = None, key: bytes | None = None
) -> DeadLetter:
    return DeadLetter(key, value, carry(headers), SOURCE, 5, "headrace.dispatcher", FAILURE)


@given(LETTERS)
def test_it_is_read_back_as_it_was_written(wanted: DeadLetter) -> None:
    read = parse_dead_letter(*write_dead_letter(wanted))
    assert read.original_headers == wanted.original_headers
    assert (read.key, read.value, read.source, read.failure) == (
        wanted.key,
        wanted.value,
        wanted.source,
        wanted.failure,
    )
    assert (read.source_timestamp_ms, read.group, read.attempts, read.replay) == (
        wanted.source_timestamp_ms,
        wanted.group,
        wanted.attempts,
        wanted.replay,
    )
    assert (read.tenant, read.lane, read.endpoint, read.format) == (
        wanted.tenant,
        wanted.lane,
        wanted.endpoint,
        wanted.format,
    )
    assert read.whole


def test_the_headers_are_those_of_the_contract() -> None:
    full = DeadLetter(
        b"k",
        b"v",
        carry([("headrace-lane", b"gold"), ("mine", b"x"), ("__dlq.errors.topic", b"theirs")]),
        SOURCE,
        5,
        "headrace.worker.sim",
        Failure(ErrorClass.OVER_QUOTA, Stage.ADMIT, "too much", 250),
        attempts=3,
        replay=1,
        tenant="acme",
        lane=Lane.INTERACTIVE,
        endpoint="sim",
        format="json",
    )
    key, value, headers = write_dead_letter(full)
    assert (key, value) == (b"k", b"v")
    assert headers == [
        ("headrace-version", b"1"),
        ("headrace-source", b"in/1/2"),
        ("headrace-source-timestamp", b"5"),
        ("headrace-tenant", b"acme"),
        ("headrace-lane", b"interactive"),
        ("headrace-endpoint", b"sim"),
        ("headrace-format", b"json"),
        ("headrace-replay", b"1"),
        ("headrace-attempts", b"3"),
        ("headrace-error-class", b"over_quota"),
        ("headrace-stage", b"admit"),
        ("headrace-retry-after-ms", b"250"),
        ("__dlq.errors.topic", b"in"),
        ("__dlq.errors.partition", b"1"),
        ("__dlq.errors.offset", b"2"),
        ("__dlq.errors.group", b"headrace.worker.sim"),
        ("__dlq.errors.delivery.count", b"3"),
        ("__dlq.errors.message", b"too much"),
        ("headrace-in.lane", b"gold"),
        ("mine", b"x"),
        ("headrace-in.__dlq.errors.topic", b"theirs"),
    ]


def test_a_record_that_never_ran_was_delivered_once() -> None:
    headers = dict(write_dead_letter(letter()).headers)
    assert (headers["headrace-attempts"], headers["__dlq.errors.delivery.count"]) == (b"0", b"1")


def test_a_tombstone_stays_one() -> None:
    written = write_dead_letter(letter(value=None))
    assert written.value is None
    assert parse_dead_letter(*written).whole


@given(st.text(), st.integers(3, 60))
def test_a_message_is_cut_at_a_character_within_its_bound(message: str, bytes_max: int) -> None:
    cut = shorten(message, bytes_max)
    assert len(cut.encode()) <= bytes_max


def test_a_message_of_a_megabyte_is_cut_to_2_kb() -> None:
    long = Failure(ErrorClass.ENGINE, Stage.ENGINE, "é" * 1_000_000)
    written = write_dead_letter(DeadLetter(None, b"", (), SOURCE, 5, "g", long))
    message = dict(written.headers)["__dlq.errors.message"]
    assert message is not None
    assert MESSAGE_BYTES_MAX - 4 < len(message) <= MESSAGE_BYTES_MAX


@pytest.mark.parametrize(
    ("value", "headers", "key", "omitted"),
    [
        (b"v" * 3_000, [("h", b"x")], b"k", (3_000, None, None)),
        (b"v" * 3_000, [("h", b"x" * 3_000)], b"k", (3_000, 3_001, None)),
        (b"v" * 3_000, [("h", b"x" * 3_000)], b"k" * 3_000, (3_000, 3_001, 3_000)),
        (None, [("h", b"x" * 3_000)], b"k", (None, 3_001, None)),
        (b"", [], b"k" * 3_000, (None, None, 3_000)),
        (b"v" * 500, [("h", b"x")], b"k", (None, None, None)),
    ],
)
def test_what_does_not_fit_is_omitted_and_its_size_is_told(
    value: bytes | None, headers: list[Header], key: bytes, omitted: tuple[int | None, ...]
) -> None:
    written = write_dead_letter(letter(value, headers, key), bytes_max=2_000)
    assert len(written.value or b"") + len(written.key or b"") + headers_size(written.headers) <= 2_000
    read = parse_dead_letter(*written)
    assert (read.value_omitted, read.headers_omitted, read.key_omitted) == omitted
    assert read.whole == (omitted == (None, None, None))
    assert read.source == SOURCE


def test_16_mib_with_64_kib_of_headers_fit_whole() -> None:
    written = write_dead_letter(letter(b"v" * 2**24, [("h", b"x" * 65_000)]))
    assert len(written.value or b"") == 2**24


def test_a_higher_version_and_strangers_are_told_apart() -> None:
    key, value, headers = write_dead_letter(letter())
    later = [(name, b"2" if name == "headrace-version" else content) for name, content in headers]
    with pytest.raises(NewerVersion):
        parse_dead_letter(key, value, later)
    with pytest.raises(ForeignRecord):
        parse_dead_letter(key, value, None)


@given(st.lists(st.tuples(st.sampled_from([n for n, _ in write_dead_letter(letter()).headers]), BYTES)))
def test_any_headers_are_read_or_foreign(headers: list[Header]) -> None:
    try:
        parse_dead_letter(None, None, [("headrace-version", b"1"), *headers])
    except (ForeignRecord, NewerVersion):
        return
