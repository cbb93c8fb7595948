"""What Kafka takes as the name of a topic."""

from __future__ import annotations

import re
from typing import Final

#: Kafka's own bound and alphabet (org.apache.kafka.common.internals.Topic).
TOPIC_CHARS_MAX: Final = 249
_LEGAL: Final = re.compile(r"[a-zA-Z0-9._-]+")


def topic_problem(name: str) -> str | None:
    """What is wrong with a topic's name; None: nothing."""
    if not name or name in (".", ".."):
        return "a topic has a name"
    if len(name) > TOPIC_CHARS_MAX:
        return f"a topic's name has at most {TOPIC_CHARS_MAX} characters"
    if not _LEGAL.fullmatch(name):
        return "a topic's name has letters, digits, dots, dashes and underscores only"
    return None
