"""What a failed transaction means, and how the guilty answer is found."""

from __future__ import annotations

import pytest

from stream.exactly_once.abort_policy import MAP_TOO_LARGE, Action, Contents, action_for
from stream.exactly_once.reply_topics import FAILURES_MAX, QUARANTINE_S, REPLY_TOPICS_MAX, ReplyTopics
from stream.exactly_once.selection import PROVEN
from stream.log import reasons
from stream.log.base import Aborted, TopicDescription


@pytest.mark.parametrize(
    ("outcome", "contents", "action"),
    [
        (Aborted("illegal_generation", {}), Contents(5), Action.BACK_OFF),
        (Aborted(reasons.STALE_MEMBER, {}), Contents(5), Action.BACK_OFF),
        (Aborted(MAP_TOO_LARGE, {}), Contents(5), Action.STOP),
        (Aborted(reasons.TOO_LARGE, {}, True), Contents(5), Action.NARROW),
        (Aborted(reasons.TOO_LARGE, {}, True), Contents(1), Action.GIVE_UP_ANSWER),
        (Aborted(reasons.TOO_LARGE, {}, True), Contents(1, {"x"}), Action.GIVE_UP_ANSWER),
        (Aborted(reasons.UNAUTHORISED, {}, True), Contents(5), Action.NARROW),
        (Aborted(reasons.UNAUTHORISED, {}, True), Contents(1), Action.STOP),
        (
            Aborted(reasons.UNAUTHORISED, {2: reasons.UNAUTHORISED}, True),
            Contents(5, attributed=True),
            Action.STOP,
        ),
        (Aborted(reasons.UNAUTHORISED, {}, True), Contents(1, attributed=True), Action.BACK_OFF),
        (Aborted(reasons.UNKNOWN_TOPIC, {}, True), Contents(5, {"x", "y", "z"}), Action.SEPARATE),
        (Aborted(reasons.UNKNOWN_TOPIC, {}, True), Contents(5, {"x"}), Action.QUARANTINE),
        (Aborted(reasons.REFUSED, {}, True), Contents(1, {"x"}), Action.QUARANTINE),
    ],
)
def test_every_abort_has_its_action(outcome: Aborted, contents: Contents, action: Action) -> None:
    assert action_for(outcome, contents) is action


class TestTargets:
    def known(self, **settings: str) -> ReplyTopics:
        targets = ReplyTopics()
        targets.looked_up(
            {"x": TopicDescription("x", 3, {k.replace("_", "."): v for k, v in settings.items()})}, 0
        )
        return targets

    def test_a_topic_goes_alone_until_a_transaction_with_it_succeeded(self) -> None:
        targets = self.known()
        assert targets.kind("x") == "x"
        targets.proved(["x"])
        assert targets.kind("x") == PROVEN
        targets.suspect(["x"])
        assert targets.kind("x") == "x"
        assert targets.unknown(["x"], 0) == ["x"]

    def test_a_topic_is_refused_for_a_while_and_then_looked_up_again(self) -> None:
        targets = ReplyTopics()
        assert targets.looked_up({"gone": None}, 0) == ["gone"]
        assert targets.refusal("gone", -1, QUARANTINE_S - 1) is not None
        assert targets.refusal("gone", -1, QUARANTINE_S) is None
        assert targets.unknown(["gone"], 0) == ["gone"]

    def test_a_compacted_topic_is_refused(self) -> None:
        assert "compacted" in (self.known(cleanup_policy="compact,delete").refusal("x", -1, 1) or "")

    def test_a_partition_that_is_not_there_is_refused_alone(self) -> None:
        targets = self.known()
        assert "no partition 3" in (targets.refusal("x", 3, 1) or "")
        assert targets.refusal("x", 2, 1) is None

    def test_a_small_topic_bounds_its_transactions(self) -> None:
        assert self.known(max_message_bytes="2000").bytes_max("x") == 2_000

    def test_time_outs_blame_a_topic_only_while_others_succeed(self) -> None:
        targets = self.known()
        assert not any(targets.failed_alone("x") for _ in range(20))
        for _ in range(FAILURES_MAX - 2):
            targets.proved([])
            assert not targets.failed_alone("x")
        targets.proved([])
        assert targets.failed_alone("x")

    def test_what_is_remembered_is_bounded(self) -> None:
        targets = ReplyTopics()
        for number in range(REPLY_TOPICS_MAX + 10):
            targets.looked_up({f"t{number}": TopicDescription(f"t{number}", 1, {})}, 0)
        assert len(targets.partitions_of) == REPLY_TOPICS_MAX
