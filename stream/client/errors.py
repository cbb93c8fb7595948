"""Errors of the client; they belong to the tree of `stream.errors`.

StreamError
+-- NotDelivered         some lines of a submission did not arrive: which, why, and where the others are
+-- NotSubmitted         a submission in one transaction was aborted: nothing of it is there
+-- OutcomeUnknown       nobody can say whether such a submission is there: look for it before it is sent again
+-- WaitedTooLong
    +-- AnswersMissing   not every answer came in time: those that came, and what is missing
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from schemas.source import Source
from stream.client.answer import Answer
from stream.errors import StreamError, WaitedTooLong

#: So many lines or names stand in a message.
NAMED_MAX: Final = 3


class NotDelivered(StreamError):
    """Some lines did not arrive. `problems`: number of the line, from 0 on -> why; `sources`: where the others are."""

    def __init__(self, problems: Mapping[int, str], sources: Mapping[int, Source]) -> None:
        named = "; ".join(f"line {number}: {why}" for number, why in list(problems.items())[:NAMED_MAX])
        super().__init__(f"{len(problems)} of {len(problems) + len(sources)} lines did not arrive: {named}")
        self.problems = problems
        self.sources = sources


class NotSubmitted(StreamError):
    """A transaction was aborted: nothing of it is there."""


class OutcomeUnknown(StreamError):
    """Nobody can say whether a transaction was committed."""


class AnswersMissing(WaitedTooLong):
    """Not every answer came in time. `found`: name -> answer; `missing`: the names of the others."""

    def __init__(self, found: Mapping[str, Answer], missing: Sequence[str], timeout_s: float) -> None:
        named = ", ".join(missing[:NAMED_MAX])
        more = f" and {len(missing) - NAMED_MAX} more" if len(missing) > NAMED_MAX else ""
        super().__init__(
            f"{len(found)} of {len(found) + len(missing)} answers came in {timeout_s:g} s, not that of {named}{more}"
        )
        self.found = found
        self.missing = missing
