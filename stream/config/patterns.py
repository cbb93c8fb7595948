"""Names of topics as the configuration writes them: exact, a glob (`*`, literal dots) or a regex (`^…`)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from schemas.topic_name import TOPIC_CHARS_MAX

#: Kafka's rule for topic names, but for two more that it refuses.
TOPIC_NAME: Final = rf"[a-zA-Z0-9._-]{{1,{TOPIC_CHARS_MAX}}}"
DOT_NAMES: Final = frozenset({".", ".."})
#: What the client's POSIX expressions and Python's read differently, or only one of them has.
_NOT_POSIX: Final = re.compile(r"\(\?|\\[a-zA-Z0-9]|[*+?}][?+]|\[\[")


@dataclass(frozen=True, slots=True)
class TopicPattern:
    """One pattern; `matches` is the only judge of what it covers."""

    text: str
    #: None: no regex.
    _compiled: re.Pattern[str] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_compiled", re.compile(self.text) if self.is_regex else None)

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
        if self._compiled is not None:
            return self._compiled.search(topic) is not None
        return topic == self.text if self.exact else _covers(self.text, topic)


def check_pattern(text: str) -> str | None:
    """What is wrong with a pattern, or None."""
    if text.startswith("^"):
        return _check_regex(text)
    if (
        text in DOT_NAMES
        or len(text) > TOPIC_CHARS_MAX
        or not re.fullmatch(TOPIC_NAME, text.replace("*", "") or "x")
    ):
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


def _covers(glob: str, topic: str) -> bool:
    """Piece by piece from the left, each at its first place: a regex of many stars would try every split."""
    first, *middle, last = glob.split("*")
    at, end = len(first), len(topic) - len(last)
    if at > end or not topic.startswith(first) or not topic.endswith(last):
        return False
    for piece in middle:
        at = topic.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


@lru_cache(maxsize=4096)
def _meet(one: str, two: str) -> str | None:
    """The shortest text that both globs cover. From the ends backwards, so that no depth depends on their length."""
    below: list[str | None] = [None] * (len(two) + 2)
    for i in range(len(one), -1, -1):
        row: list[str | None] = [None] * (len(two) + 2)
        for j in range(len(two), -1, -1):
            row[j] = _rest(one[i : i + 1], two[j : j + 1], row[j + 1], below[j], below[j + 1])
        below = row
    return below[0]


def _rest(one: str, two: str, along: str | None, down: str | None, both: str | None) -> str | None:
    """What the rests of both globs share, from their first letters and what shorter rests share.

    `along`: without the letter of `two`; `down`: without that of `one`; `both`: without either.
    """
    if not one and not two:
        return ""
    found: list[str | None] = []
    if one == "*":
        found += [down, _before(two.replace("*", ""), along)]
    if two == "*":
        found += [along, _before(one.replace("*", ""), down)]
    if one == two != "*":
        found.append(_before(one, both))
    return min((text for text in found if text is not None), key=len, default=None)


def _before(letter: str, rest: str | None) -> str | None:
    """None where there is no letter, or no rest."""
    return letter + rest if letter and rest is not None else None


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
    except (re.error, OverflowError, RecursionError) as wrong:  # counts and nesting have bounds too
        return f'"{text}" is not a regular expression: {wrong}'
    return None
