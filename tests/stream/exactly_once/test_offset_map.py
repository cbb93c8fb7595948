"""The offset map: what is written is read back, and nothing else is accepted."""

from __future__ import annotations

import base64
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream.errors import LedgerBroken, MapUnreadable
from stream.exactly_once.offset_map import (
    MAP_CHARS_MAX,
    POLL_BYTES,
    OffsetMap,
    decode,
    encode,
    open_records_bound,
)

LOG_END = 10**18


@st.composite
def maps(draw: st.DrawFn) -> OffsetMap:
    base = draw(st.integers(0, 10**17))
    deaths = draw(st.integers(0, 2_000))
    passed = draw(st.lists(st.integers(0, 3_000), max_size=300))
    if not passed:
        trying = draw(st.none() | st.just(base))
        return OffsetMap(base, base - 1, (), deaths, trying)
    incomplete, expected = [base], base + 1
    for step in passed:
        incomplete.append(expected + step)
        expected += step + 1
    hi = expected + draw(st.integers(0, 50))
    return OffsetMap(base, hi, tuple(incomplete), deaths, draw(st.none() | st.sampled_from(incomplete)))


@given(maps())
def test_what_is_encoded_is_decoded(offsets: OffsetMap) -> None:
    text = encode(offsets)
    assert len(text) <= MAP_CHARS_MAX
    assert "\0" not in text
    assert decode(text, offsets.base, LOG_END) == offsets


@given(maps(), st.data())
def test_any_changed_character_is_noticed(offsets: OffsetMap, data: st.DataObject) -> None:
    text = encode(offsets)
    place = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.characters(min_codepoint=33, max_codepoint=126).filter(lambda c: c != text[place]))
    with pytest.raises(MapUnreadable):
        decode(text[:place] + other + text[place + 1 :], offsets.base, LOG_END)


@given(maps(), st.data())
def test_a_truncated_map_is_noticed(offsets: OffsetMap, data: st.DataObject) -> None:
    text = encode(offsets)
    cut = data.draw(st.integers(1, len(text) - 1))
    with pytest.raises(MapUnreadable):
        decode(text[:cut], offsets.base, LOG_END)


@given(st.text(min_size=1), st.integers(0, 1000))
def test_foreign_text_is_refused_and_never_crashes(text: str, offset: int) -> None:
    with pytest.raises(MapUnreadable):
        decode(text, offset, LOG_END)


@pytest.mark.parametrize("first", [*b"lanJosepL", 0xEE, 1, 2])
def test_maps_of_other_projects_are_refused(first: int) -> None:
    foreign = base64.b64encode(bytes([first]) + b"\x00\x01\x02\x03\x04\x05\x06").decode()
    with pytest.raises(MapUnreadable, match="not an offset map"):
        decode(foreign, 5, LOG_END)


@pytest.mark.parametrize("metadata", ["", None])
def test_no_metadata_means_that_nothing_above_the_offset_is_done(metadata: str | None) -> None:
    offsets = decode(metadata, 7, 100)
    assert offsets == OffsetMap.empty(7)
    assert not offsets.says_done(7)
    assert offsets.says_done(6)


def test_a_map_without_progress_is_not_read_as_offset_zero() -> None:
    text = encode(OffsetMap.empty(41))
    assert decode(text, 41, 41).base == 41


def test_a_stale_base_is_refused() -> None:
    text = encode(OffsetMap(5, 9, (5, 7)))
    with pytest.raises(MapUnreadable, match="base is 5, the committed offset 6"):
        decode(text, 6, LOG_END)


@pytest.mark.parametrize("log_end", [9, 8, 0])
def test_a_map_that_reaches_beyond_the_log_is_refused(log_end: int) -> None:
    text = encode(OffsetMap(5, 9, (5, 7)))
    with pytest.raises(MapUnreadable, match="the log ends at"):
        decode(text, 5, log_end)
    assert decode(text, 5, 10).hi == 9


def test_trying_must_be_open_and_in_the_log() -> None:
    with pytest.raises(MapUnreadable, match="trying"):
        decode(encode(OffsetMap(5, 9, (5, 7), trying=6)), 5, LOG_END)
    with pytest.raises(MapUnreadable, match="trying"):
        decode(encode(OffsetMap(5, 9, (5, 7), trying=12)), 5, 12)
    assert decode(encode(OffsetMap(5, 9, (5, 7), trying=12)), 5, 13).trying == 12


def test_more_than_32767_offsets_fit() -> None:
    offsets = OffsetMap(0, 99_999, (0, 50_000, 99_998))
    assert decode(encode(offsets), 0, LOG_END) == offsets


@pytest.mark.parametrize("span", [1_000, 50_000, 100_000, 150_000, 1_000_000])
def test_the_largest_map_of_the_bound_fits_its_span(span: int) -> None:
    """The worst layout: as many gaps of 128 as the span has, and one poll's gaps beyond it."""
    bound = open_records_bound(span)
    polled = POLL_BYTES * 128
    wide = min(bound, (span + polled) // 129)
    incomplete = tuple(place * 129 for place in range(wide))
    incomplete += tuple(incomplete[-1] + 1 + place for place in range(bound - wide))
    base = 10**18
    shifted = tuple(base + offset for offset in incomplete)
    assert len(encode(OffsetMap(base, shifted[-1] + 1, shifted, 99_999, shifted[-1]))) <= MAP_CHARS_MAX


def test_the_largest_map_of_k_1000_fits_whatever_the_span() -> None:
    assert open_records_bound(10_000_000) > 1_000
    incomplete = tuple(range(0, 1000 * 500_000, 500_000))
    base = 10**18 // 2
    shifted = tuple(base + offset for offset in incomplete)
    assert len(encode(OffsetMap(base, shifted[-1] + 1, shifted, 99_999, shifted[-1]))) <= MAP_CHARS_MAX


def test_4095_characters_pass_and_4096_are_refused() -> None:
    """A dense random bitmap: the one limit that our own encoder could ever meet."""
    rng = random.Random(3)
    lengths = set()
    for span in range(25_800, 26_300, 4):
        incomplete = (0, *(o for o in range(1, span - 1) if rng.random() < 0.5))
        try:
            lengths.add(len(encode(OffsetMap(0, span, incomplete))))
        except LedgerBroken as error:
            assert "over 4095" in str(error)  # noqa: PT017 - both ends are wanted
            assert max(lengths) > 4085
            return
    pytest.fail("no map was refused")


def test_the_smaller_body_is_chosen() -> None:
    dense = OffsetMap(0, 800, tuple(range(0, 800, 2)))
    sparse = OffsetMap(0, 80_000, (0, 79_999))
    assert encode(dense).split(":")[3] == "b"
    assert encode(sparse).split(":")[3] == "d"
    assert decode(encode(dense), 0, LOG_END) == dense
