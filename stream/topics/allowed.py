"""What a role must be allowed to do, asked when it starts: what is missing is refused before a record is read."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from schemas.lane import LANES
from stream.config.settings import Settings
from stream.errors import LogTimeout, RightMissing
from stream.log.base import LogAdmin
from stream.log.how_to_allow import how_to_allow
from stream.topics.rights import Role
from stream.topics.served import input_topics

_LOG = logging.getLogger(__name__)

#: Nobody waits longer to be told what he may do.
ASK_S: Final = 5.0
READ: Final = ("Read",)
WRITE: Final = ("Write",)
#: The owner trims its topics.
OWN: Final = ("Read", "Delete")


@dataclass(frozen=True, slots=True)
class Needs:
    """One process's, on topics that are there already. Reply topics that records name are judged when they are used."""

    role: Role
    #: Topic -> operations.
    topics: Mapping[str, tuple[str, ...]]


def dispatcher_needs(settings: Settings, existing: Mapping[str, int]) -> Needs:
    """`existing`: topics, for the inputs that a pattern names."""
    inputs = dict.fromkeys(input_topics(settings, existing), READ)
    work = {settings.work_topic(endpoint, lane): WRITE for endpoint in settings.endpoints for lane in LANES}
    outputs = dict.fromkeys((settings.outputs.results, settings.outputs.dead_letters), WRITE)
    return Needs("dispatcher", {**inputs, **work, **outputs})


def worker_needs(settings: Settings, endpoint: str) -> Needs:
    """Of a worker of this endpoint."""
    work = {settings.work_topic(endpoint, lane): OWN for lane in LANES}
    own = (settings.own_topic("usage"), settings.own_topic("workers"))
    written = (settings.outputs.results, settings.outputs.dead_letters, *own)
    return Needs("worker", {**work, **dict.fromkeys(written, WRITE)})


def refuse_missing_rights(admin: LogAdmin, needs: Needs) -> None:
    """Raises RightMissing with every right that is missing and what to do. What nobody can say is not refused.

    Not asked: the transactional id and the group. The producer's start and the first join are refused in the same words.
    """
    try:
        told = admin.may_on_topics(list(needs.topics), ASK_S)
    except LogTimeout as late:
        _LOG.warning("nobody says what the %s may do (%s): what it may not shows in use", needs.role, late)
        return
    if findings := list(_findings(needs, told)):
        raise RightMissing("\n".join(findings))


def _findings(needs: Needs, told: Mapping[str, frozenset[str] | None]) -> Iterator[str]:
    for topic, operations in needs.topics.items():
        allowed = told[topic]
        if allowed is None:
            continue
        if missing := [operation for operation in operations if operation not in allowed]:
            yield f"the {needs.role} has {how_to_allow('topic', topic, missing)}"
