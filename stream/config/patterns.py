"""Names of topics as the configuration writes them: exact, a glob (`*`, literal dots) or a regex (`^…`)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

#: Kafka's rule for topic names; two more are refused: `.` and `..`.
TOPIC_NAME: Final = r"[a-zA-Z0-9._-]{1,249}"
#: What the client's POSIX expressions and Python's read differently, or only one of them has.
_NOT_POSIX: Final = re.compile(r"\(\?|\\[a-zA-Z0-9]|[*+?}][?+]|\[\[")


@dataclass(frozen=True, slots=True)
class TopicPattern:
    """One pattern; `matches` is the only judge of what it covers."""

    text: str
    _compiled: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_compiled", re.compile(self.subscription))

    @property
    def exact(self) -> bool:
        return not self.is_regex and "*" not in self.text

    @property
    def is_regex(self) -> bool:
        return self.text.startswith("^")

    @property
    def subscription(self) -> str:
        """As Kafka's client takes it: a plain name, or a regex that starts with ^."""
        if self.exact or self.is_regex:
            return self.text
        return "^" + re.escape(self.text).replace(r"\*", ".*").replace(r"\-", "-") + "$"

    def matches(self, topic: str) -> bool:
        if self.exact:
            return topic == self.text
        return self._compiled.search(topic) is not None


def check_pattern(text: str) -> str | None:
    """What is wrong with a pattern, or None."""
    if text.startswith("^"):
        return _check_regex(text)
    if text in {".", ".."} or not re.fullmatch(TOPIC_NAME, text.replace("*", "") or "x"):
        return (
            f'"{text}" cannot name a topic: letters, digits, ".", "_" and "-", at most 249; "*" for any text'
        )
    return None


def common_topic(one: TopicPattern, two: TopicPattern) -> str | None:
    """A name that both cover, or None.

    Certain for names and globs. With a regex it is tried on names made from the other pattern, so that None is
    no proof; the dispatcher looks again at every topic it meets.
    """
    if one.is_regex or two.is_regex:
        for name in (*_samples(one), *_samples(two)):
            if one.matches(name) and two.matches(name):
                return name
        return None
    return _meet(one.text, two.text)


@lru_cache(maxsize=4096)
def _meet(one: str, two: str) -> str | None:
    """A text that both globs cover: the shortest walk through both, letter by letter."""
    if not one and not two:
        return ""
    if one.startswith("*"):
        return _star(one, two)
    if two.startswith("*"):
        return _star(two, one)
    if one and two and one[0] == two[0]:
        rest = _meet(one[1:], two[1:])
        return None if rest is None else one[0] + rest
    return None


def _star(starred: str, other: str) -> str | None:
    rest = _meet(starred[1:], other)
    if rest is not None or not other:
        return rest
    if other[0] == "*":
        return _meet(starred, other[1:])
    rest = _meet(starred, other[1:])
    return None if rest is None else other[0] + rest


def _samples(pattern: TopicPattern) -> tuple[str, ...]:
    if pattern.is_regex:
        literal = re.match(r"[a-zA-Z0-9_-]*(?:\\?\.[a-zA-Z0-9_-]+)*", pattern.text[1:])
        start = literal.group().replace("\\", "") if literal else ""
        return (start, f"{start}x", f"{start}.x", f"{start}0")
    return tuple(pattern.text.replace("*", filler) for filler in ("x", "0", "a.b", ""))


def _check_regex(text: str) -> str | None:
    strange = _NOT_POSIX.search(text.replace("\\.", "").replace("\\-", ""))
    if strange:
        return (
            f'"{text}" holds "{strange.group()}", which Kafka clients read in another way: write plain POSIX'
        )
    try:
        re.compile(text)
    except re.error as wrong:
        return f'"{text}" is not a regular expression: {wrong}'
    return None
