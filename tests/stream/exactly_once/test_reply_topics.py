"""What is remembered of reply topics stays within its bound."""

from __future__ import annotations

from stream.exactly_once.reply_topics import REPLY_TOPICS_MAX, ReplyTopics
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
    assert targets.unknown(["oldest", "new"]) == []


def test_a_topic_in_use_is_not_the_one_that_is_forgotten() -> None:
    targets = full()
    targets.proved(["oldest"])
    targets.looked_up(described("new"), 0)
    assert targets.unknown(["oldest", "t0"]) == ["t0"]


def test_one_answer_may_name_more_topics_than_are_remembered() -> None:
    names = [f"t{n}" for n in range(REPLY_TOPICS_MAX + 1)]
    assert ReplyTopics().looked_up(dict.fromkeys(names), 0) == names
