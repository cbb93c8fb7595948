"""Is a fenced member a twin's victim, or its own?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from stream.errors import LogError, MemberFenced
from stream.log.base import LogConsumer, LogProducer


@contextmanager
def twins_told_apart(producer: LogProducer, consumer: LogConsumer) -> Iterator[None]:
    """MemberFenced passes only where a twin owns the slot (exit 4); else it becomes a LogError: start again.

    A broker that dies between a join and its answer hands our instance id to the member it made for that join, and
    fences the one we are. A supervisor must start such a role again, and never one whose slot a twin has taken.
    """
    try:
        yield
    except MemberFenced as fenced:
        if producer.is_fenced(consumer.group()):
            raise
        raise LogError(
            f"the group has lost this member, and no other process owns its slot: {fenced}"
        ) from fenced
