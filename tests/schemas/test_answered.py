"""Two records written together are the two records written apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from schemas.answered import write_answered
from schemas.headers import Headers
from schemas.lane import LANES
from schemas.result import Facts, answer_value, result_headers
from schemas.source import Source
from schemas.times import Times
from schemas.usage import usage_headers, usage_value

OFFSETS = st.integers(0, 2**63 - 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ATTEMPTS = st.integers(0, 40)
TOKENS = st.dictionaries(TEXTS, OFFSETS, max_size=2)
FACTS = st.builds(
    Facts,
    st.builds(Source, TEXTS.filter(bool), st.integers(0, 2**31 - 1), OFFSETS),
    st.none() | TEXTS,
    st.none() | TEXTS,
    st.none() | st.sampled_from(LANES),
    ATTEMPTS,
    st.builds(Times, *[st.none() | OFFSETS] * 4),
    TOKENS,
    st.lists(TEXTS, max_size=2).map(tuple),
    st.integers(0, 3),
)
PASSING = st.lists(st.tuples(TEXTS, st.none() | st.binary(max_size=4)), max_size=2)


@given(FACTS, st.none() | TEXTS, TEXTS, TOKENS, PASSING)
def test_what_is_written_together_is_what_is_written_apart(
    facts: Facts, custom_id: str | None, text: str, clamped: dict[str, int], passing: Headers
) -> None:
    body = {"choices": [{"index": 0, "text": text}], "usage": {"prompt_tokens": 1}}
    made = write_answered(facts, custom_id, body, clamped, 1_764_400_000_123, (7, 5), passing)
    assert made.result == answer_value(facts, custom_id, body, clamped)
    assert made.result_headers == result_headers(facts.source, 1_764_400_000_123, facts.attempts, passing)
    assert made.usage == usage_value(facts, "answered", {"input": 7, "output": 5, "cached": 0})
    assert made.usage_headers == usage_headers(facts, 1_764_400_000_123)
