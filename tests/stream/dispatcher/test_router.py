"""What no client can produce, but a record may hold."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.dead_letter import parse_dead_letter
from schemas.decode import Decoder
from schemas.headers import Headers
from stream.dispatcher.batch import Batches
from stream.dispatcher.bindings import Inlet
from stream.dispatcher.letters import Letters
from stream.dispatcher.places import Places
from stream.dispatcher.refusals import Refusals
from stream.dispatcher.router import Router
from stream.dispatcher.targets import LOOKUPS_MAX, Targets
from stream.errors import LogTimeout
from tests.stream.dispatcher.stage import NOW_MS, Stage, line


@dataclass
class Strange:
    """A record whose header names are bytes that are no UTF-8."""

    def topic(self) -> str:
        return "in"

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return 7

    def key(self) -> bytes | None:
        return b"k"

    def value(self) -> bytes | None:
        return line()

    def headers(self) -> Headers | None:
        raise UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte")

    def timestamp(self) -> tuple[int, int]:
        return (0, -1)

    def leader_epoch(self) -> int | None:
        return None


def test_header_names_that_are_not_utf8_are_unreadable() -> None:
    stage = Stage()
    letters = Letters(stage.settings, stage.admin)
    targets = Targets(stage.settings, stage.admin, lambda: 0.0)
    refusals = Refusals(stage.settings, letters, targets, Batches())
    places = Places(stage.settings, stage.admin.topics(1))
    router = Router(stage.settings, places, Decoder(), targets, refusals)
    router.next_batch(NOW_MS)
    output = router.route(Strange(), Inlet("json"), b"in/0/")
    assert output.topic == "headrace.dead-letters"
    assert dict(output.headers)["headrace-error-class"] == b"unreadable"
    assert (output.key, output.value) == (b"k", line())
    assert not parse_dead_letter(output.key, output.value, output.headers).whole


def test_only_so_many_reply_topics_are_looked_at_for_one_batch() -> None:
    stage = Stage()
    names = [f"headrace.replies.{number}" for number in range(LOOKUPS_MAX + 1)]
    for name in names:
        stage.topic(name)
    targets = Targets(stage.settings, stage.admin, lambda: 0.0)
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
