"""What no client can produce, but a record may hold."""

from __future__ import annotations

from schemas.dead_letter import parse_dead_letter
from schemas.decode import Decoder
from stream.dispatcher.batch import Batches
from stream.dispatcher.bindings import Inlet
from stream.dispatcher.dead_letters import DeadLetters
from stream.dispatcher.placement import Placement
from stream.dispatcher.rejection import Rejections
from stream.dispatcher.reply_topics import LOOKUPS_MAX, ReplyTopicChecks
from stream.dispatcher.router import Router
from stream.errors import LogTimeout
from tests.stream.dispatcher.stage import NOW_MS, Stage
from tests.stream.unreadable import Unreadable


def test_header_names_that_are_not_utf8_are_unreadable() -> None:
    stage = Stage()
    letters = DeadLetters(stage.settings, stage.admin)
    targets = ReplyTopicChecks(stage.settings, stage.admin, lambda: 0.0)
    refusals = Rejections(stage.settings, letters, targets, Batches())
    places = Placement(stage.settings, stage.admin.topics(1))
    router = Router(stage.settings, places, Decoder(), targets, refusals)
    router.next_batch(NOW_MS)
    unreadable = Unreadable()
    output = router.route(unreadable, Inlet("json"), b"in/0/")
    assert output.topic == "headrace.dead-letters"
    assert dict(output.headers)["headrace-error-class"] == b"unreadable"
    assert (output.key, output.value) == (unreadable.key(), unreadable.value())
    assert not parse_dead_letter(output.key, output.value, output.headers).whole


def test_only_so_many_reply_topics_are_looked_at_for_one_batch() -> None:
    stage = Stage()
    names = [f"headrace.replies.{number}" for number in range(LOOKUPS_MAX + 1)]
    for name in names:
        stage.topic(name)
    targets = ReplyTopicChecks(stage.settings, stage.admin, lambda: 0.0)
    targets.next_batch()
    for name in names[:-1]:
        targets.check(name, None)
    try:
        targets.check(names[-1], None)
    except LogTimeout:
        targets.next_batch()
    else:
        raise AssertionError("looked at one too many")
    targets.check(names[-1], 0)
    targets.check(names[0], None)
