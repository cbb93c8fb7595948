"""The contract of the log on what we may do with topics: all of it where nobody denies anything, and what is denied is told."""

from __future__ import annotations

import pytest

from tests.contract.log_stage import PATIENCE_S, Stage

ALL = {"Read", "Write", "Delete", "Describe", "DescribeConfigs"}


def test_where_nothing_is_denied_everything_may_be_done(stage: Stage) -> None:
    topic = stage.topic()
    told = stage.admin.may_on_topics([topic], PATIENCE_S)[topic]
    assert told is not None
    assert told >= ALL


def test_of_a_topic_that_is_not_there_nobody_can_say(stage: Stage) -> None:
    there, missing = stage.topic(), stage.unique("missing")
    told = stage.admin.may_on_topics([missing, there], PATIENCE_S)
    assert told.keys() == {missing, there}
    assert told[missing] is None
    assert told[there] is not None


@pytest.mark.parametrize("operation", ["Read", "Write", "Delete"])
def test_what_is_denied_on_a_topic_is_told_and_the_rest_stays(stage: Stage, operation: str) -> None:
    if stage.deny is None:
        pytest.skip("no authorizer: nothing can be denied")
    topic, other = stage.topic(), stage.topic()
    stage.deny(topic, operation)
    told = stage.admin.may_on_topics([topic, other], PATIENCE_S)
    assert (told[topic] or set()) & ALL == ALL - {operation}
    assert (told[other] or set()) >= ALL
