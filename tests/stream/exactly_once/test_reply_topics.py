"""What is known of reply topics: for how long it is believed, and within which bound it stays."""

from __future__ import annotations

from stream.exactly_once.reply_topics import FAILURES_MAX, QUARANTINE_S, REPLY_TOPICS_MAX, ReplyTopics
from stream.log.base import TopicDescription


def described(*names: str) -> dict[str, TopicDescription | None]:
    return {name: TopicDescription(name, 1, {}) for name in names}


def full() -> ReplyTopics:
    targets = ReplyTopics()
    targets.looked_up(described("oldest", *(f"t{n}" for n in range(REPLY_TOPICS_MAX - 1))), 0)
    return targets


def test_a_full_memory_takes_in_an_answer_that_names_its_oldest_topic() -> None:
    targets = full()
    targets.suspect(["oldest"])
    assert targets.looked_up(described("oldest", "new"), 0) == []
    assert targets.unknown(["oldest", "new"], 0) == []


def test_a_topic_in_use_is_not_the_one_that_is_forgotten() -> None:
    targets = full()
    targets.proved(["oldest"])
    targets.looked_up(described("new"), 0)
    assert targets.unknown(["oldest", "t0"], 0) == ["t0"]


def test_one_answer_may_name_more_topics_than_are_remembered() -> None:
    names = [f"t{n}" for n in range(REPLY_TOPICS_MAX + 1)]
    assert ReplyTopics().looked_up(dict.fromkeys(names), 0) == names


def test_what_was_looked_up_is_believed_for_as_long_as_it_is_fresh() -> None:
    targets = ReplyTopics(fresh_s=30)
    targets.looked_up(described("x"), 100)
    assert targets.unknown(["x"], 129) == []
    assert targets.unknown(["x"], 130) == ["x"]
    targets.looked_up(described("x"), 130)
    assert targets.unknown(["x"], 159) == []


def test_where_nothing_can_overtake_a_topic_each_failure_counts() -> None:
    targets = ReplyTopics()
    targets.looked_up(described("x"), 0)
    assert [targets.failed_alone("x", overtaken=False) for _ in range(FAILURES_MAX)] == [False, False, True]


def test_a_topic_in_quarantine_says_why_until_it_is_looked_up_again() -> None:
    targets = ReplyTopics(fresh_s=30)
    targets.looked_up(described("x"), 0)
    words = targets.quarantine("x", "takes no records: delivery_timed_out", 10)
    assert words == "the reply topic 'x' takes no records: delivery_timed_out"
    assert targets.refusal("x", -1, 10 + QUARANTINE_S - 1) == words
    assert targets.refusal("x", -1, 10 + QUARANTINE_S) is None
    assert targets.unknown(["x"], 10 + QUARANTINE_S) == ["x"]
