"""Hypothesis strategies for the values that travel."""

from __future__ import annotations

from hypothesis import strategies as st

from schemas.lane import LANES
from schemas.source import Source

TOPICS = st.text("abcXYZ019._-", min_size=1, max_size=30)
SOURCES = st.builds(Source, TOPICS, st.integers(0, 2**31 - 1), st.integers(0, 2**63 - 1))
MILLISECONDS = st.integers(0, 2**62)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
LANE = st.sampled_from(LANES)
FORMATS = st.sampled_from(["json", "registry", "avro:0123456789abcdef"])
HEADER_NAMES = st.sampled_from(
    [
        "a",
        "",
        "headrace-session",
        "headrace-source",
        "headrace-x",
        "headrace-in.lane",
        "__dlq.errors.topic",
        "é",
    ]
)
HEADERS = st.lists(st.tuples(HEADER_NAMES, st.none() | st.binary(max_size=10)), max_size=6)
BYTES = st.none() | st.binary(max_size=30)
