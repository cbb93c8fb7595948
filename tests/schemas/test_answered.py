"""Two records written together are the two records written apart."""

from __future__ import annotations

import pytest

from schemas.answered import write_answered
from schemas.headers import Headers
from schemas.lane import Lane
from schemas.result import Facts, answer_value, result_headers
from schemas.source import Source
from schemas.times import Times
from schemas.usage import usage_headers, usage_value

FULL = Facts(Source("a.b", 3, 17), "sim", "acme", Lane.BATCH, 2, Times(1, 2, None, 4), {"engine": 16})
BARE = Facts(Source("a", 0, 0), None, None, None, 99)


@pytest.mark.parametrize("facts", [FULL, BARE])
@pytest.mark.parametrize("clamped", [{}, {"max_tokens": 5}])
@pytest.mark.parametrize("passing", [[], [("mine", b"1"), ("mine", None)]])
def test_what_is_written_together_is_what_is_written_apart(
    facts: Facts, clamped: dict[str, int], passing: Headers
) -> None:
    body = {"choices": [{"index": 0}], "usage": {"prompt_tokens": 1}}
    made = write_answered(facts, "c-1", body, clamped, 1_764_400_000_123, (7, 5), passing)
    assert made.result == answer_value(facts, "c-1", body, clamped)
    assert made.result_headers == result_headers(facts.source, 1_764_400_000_123, facts.attempts, passing)
    assert made.usage == usage_value(facts, "answered", {"input": 7, "output": 5, "cached": 0})
    assert made.usage_headers == usage_headers(facts, 1_764_400_000_123)
