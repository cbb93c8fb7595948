"""Makes the service's topics, and refuses to start on topics that would lose or loop records."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from stream.config.settings import Settings
from stream.errors import LogError, LogTimeout, TopicMismatch
from stream.log.base import LogAdmin, TopicDescription
from stream.topics.check import loop_findings, topic_findings, wishes
from stream.topics.left_behind import left_behind
from stream.topics.plan import TopicPlan, planned_topics

_LOG = logging.getLogger(__name__)

TIMEOUT_S: Final = 30.0
#: A new topic is known to every broker a moment after its creation was answered.
VISIBLE_POLL_S: Final = 0.1
#: What the answers of a broker that refuses have in common.
REFUSED: Final = "authori"


def ensure_topics(
    admin: LogAdmin,
    settings: Settings,
    *,
    timeout_s: float = TIMEOUT_S,
    clock_s: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Mapping[str, int]:
    """Create what is missing, check what is there; returns topic -> partitions of the service's topics.

    Raises TopicMismatch with every finding and what to do, LogTimeout, LogError. May run in several processes at once.
    """
    plans = planned_topics(settings)
    try:
        found = _describe(admin, plans, timeout_s)
        topics = admin.topics(timeout_s)
        _refuse(settings, plans, found, topics)
        for wish in wishes(plans, found):
            _LOG.warning("%s", wish)
        for name in left_behind(settings, topics):
            _LOG.warning(
                "no endpoint %s is configured, but its work topics are there: nobody reads them", name
            )
        missing = [_as_existing_lanes(plan, plans, found) for plan in plans if found[plan.name] is None]
        if missing:
            admin.create([TopicDescription(*plan) for plan in missing], timeout_s)
            found = _wait(admin, plans, timeout_s, clock_s, sleep)
            # Somebody else may have been faster, with another configuration.
            _refuse(settings, plans, found, [])
    except LogTimeout:
        raise
    except LogError as error:
        if REFUSED not in str(error).lower():
            raise
        raise TopicMismatch(
            f"{error}: whoever starts Headrace needs Create, Describe and DescribeConfigs on topics that begin with "
            f'"{settings.prefix}"; `headrace topics` prints every right that is needed'
        ) from error
    return {name: description.partitions for name, description in found.items() if description is not None}


def _describe(
    admin: LogAdmin, plans: Sequence[TopicPlan], timeout_s: float
) -> Mapping[str, TopicDescription | None]:
    found = admin.describe([plan.name for plan in plans], timeout_s)
    hidden = sorted(name for name, topic in found.items() if topic is not None and topic.hidden)
    if hidden:
        raise LogError(f"settings of {', '.join(hidden)}: topic authorization failed")
    return found


def _refuse(
    settings: Settings,
    plans: Sequence[TopicPlan],
    found: Mapping[str, TopicDescription | None],
    topics: Mapping[str, int] | Sequence[str],
) -> None:
    # Ours too, before they exist: a regex input may cover them, and the configuration's own check cannot be sure.
    written = {*topics, *(plan.name for plan in plans if plan.purpose != "input")}
    findings = [*topic_findings(settings, plans, found), *loop_findings(settings, written)]
    if findings:
        raise TopicMismatch("\n".join(findings))


def _as_existing_lanes(
    plan: TopicPlan, plans: Sequence[TopicPlan], found: Mapping[str, TopicDescription | None]
) -> tuple[str, int, Mapping[str, str]]:
    """A lane's topic that is missing gets as many partitions as its sisters have."""
    sisters = [found[other.name] for other in plans if plan.endpoint and other.endpoint == plan.endpoint]
    counts = [sister.partitions for sister in sisters if sister is not None]
    return plan.name, counts[0] if counts else plan.partitions, plan.settings


def _wait(
    admin: LogAdmin,
    plans: Sequence[TopicPlan],
    timeout_s: float,
    clock_s: Callable[[], float],
    sleep: Callable[[float], None],
) -> Mapping[str, TopicDescription | None]:
    deadline = clock_s() + timeout_s
    while True:
        found = _describe(admin, plans, timeout_s)
        absent = [name for name, description in found.items() if description is None]
        if not absent:
            return found
        if clock_s() > deadline:
            raise LogTimeout(
                f"topics were created but cannot be seen after {timeout_s:.0f} s: {', '.join(absent)}"
            )
        sleep(VISIBLE_POLL_S)
