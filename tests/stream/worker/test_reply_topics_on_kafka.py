"""Reply topics that cannot be written, on a real Kafka: which answers that costs, and how their dead letters look."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from confluent_kafka.admin import AclOperation

from schemas.failure import ErrorClass, Stage
from schemas.headers import Headers
from schemas.source import Source
from stream.log.base import Aborted, Outcome, Output, TopicDescription
from stream.log.kafka.producer import KafkaProducer
from tests.stream.worker.acl import forbid
from tests.stream.worker.installation import Installation
from workers.call import Finished
from workers.runner import Runner

pytestmark = pytest.mark.broker

PATIENCE_S = 60.0
KEY = b"\x00\xffk"
ODD: Headers = [("mine", b"\xff"), ("mine", None), ("empty", b"")]


def asking_for(topic: str) -> Headers:
    return [*ODD, ("headrace-reply-to", topic.encode()), ("headrace-tenant", b"forged")]


def put(installation: Installation, count: int, topic: str, simulate: str | None = None) -> list[Source]:
    return installation.put(count, headers=asking_for(topic), key=KEY, simulate=simulate)


def check_letters(
    installation: Installation,
    topics: dict[str, list[Source]],
    error_class: ErrorClass = ErrorClass.UNWRITABLE,
) -> None:
    """One letter for each source of each reply topic, with all that its producer sent, byte for byte."""
    letters = installation.letters()
    for topic, sources in topics.items():
        for source in map(str, sources):
            letter = letters[source]
            assert (letter.failure.error_class, letter.failure.stage) == (error_class, Stage.PUBLISH)
            assert (letter.key, letter.value) == (KEY, installation.lines[source])
            assert letter.original_headers == asking_for(topic)
            assert letter.whole


def once(sources: list[Source]) -> dict[str, int]:
    return {str(source): 1 for source in sources}


def test_bad_reply_topics_cost_their_own_answers_only(installation: Installation) -> None:
    names = ("good", "missing", "compacted", "small", "forbidden", "closed")
    topic = {name: f"{installation.settings.prefix}replies.{name}" for name in names}
    made = {"good": {}, "compacted": {"cleanup.policy": "compact"}, "small": {"max.message.bytes": "3000"}}
    existing = {**made, "forbidden": {}, "closed": {}}
    installation.log.admin().create(
        [TopicDescription(topic[name], 2, settings) for name, settings in existing.items()], 30
    )
    servers = installation.place.bootstrap_servers
    forbid(AclOperation.WRITE, servers, topic["forbidden"])
    forbid(AclOperation.DESCRIBE_CONFIGS, servers, topic["closed"])
    asked = {name: put(installation, 4, topic[name]) for name in names}
    large = put(installation, 1, topic["small"], "answer_bytes:4000000")
    plain = installation.put(20)
    every = [*plain, *large, *(source for sources in asked.values() for source in sources)]
    installation.start()
    installation.await_outputs(every, topic["good"], topic["small"], topic["closed"])
    bad = [*asked["missing"], *asked["compacted"], *asked["forbidden"]]
    assert installation.sources_on(installation.settings.outputs.dead_letters) == once([*bad, *large])
    check_letters(installation, {topic[name]: asked[name] for name in ("missing", "compacted", "forbidden")})
    check_letters(installation, {topic["small"]: large}, ErrorClass.TOO_LARGE)
    assert installation.sources_on(installation.settings.outputs.results) == once(plain)
    for name in ("good", "small", "closed"):
        assert installation.sources_on(topic[name]) == once(asked[name])
    assert not installation.errors


def test_a_proven_reply_topic_deleted_in_mid_run_costs_its_own_answers_of_a_shared_transaction(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, there = (f"{installation.settings.prefix}replies.{name}" for name in ("gone", "there"))
    admin = installation.log.admin()
    admin.create([TopicDescription(name, 2, {}) for name in (gone, there)], 30)
    seen = transactions(monkeypatch)
    proven = {name: put(installation, 1, name) for name in (gone, there)}
    installation.start()
    installation.await_outputs([*proven[gone], *proven[there]], gone, there)
    held = Held(monkeypatch)
    bad = put(installation, 3, gone)
    good = put(installation, 3, there)
    plain = installation.put(2)
    held.until(8)
    admin.delete([gone], 30)
    held.let_go()
    installation.await_outputs([*proven[there], *bad, *good, *plain], there)
    assert any({gone, there} <= topics and isinstance(outcome, Aborted) for topics, outcome in seen)
    assert installation.sources_on(installation.settings.outputs.dead_letters) == once(bad)
    check_letters(installation, {gone: bad})
    assert installation.sources_on(there) == once([*proven[there], *good])
    assert installation.sources_on(installation.settings.outputs.results) == once(plain)
    installation.end_cleanly()


class Held:
    """The worker does not hear of the calls that have ended, until all of them are let go at once."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._ended: list[Finished] = []
        self._open = threading.Event()
        take = Runner.take

        def holding(runner: Runner) -> list[Finished]:
            self._ended += take(runner)
            if not self._open.is_set():
                return []
            ended, self._ended = self._ended, []
            return ended

        monkeypatch.setattr(Runner, "take", holding)

    def until(self, count: int) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while len(self._ended) < count:
            assert time.monotonic() < deadline, f"{len(self._ended)} calls have ended"
            time.sleep(0.05)

    def let_go(self) -> None:
        self._open.set()


def transactions(monkeypatch: pytest.MonkeyPatch) -> list[tuple[set[str], Outcome]]:
    """Each transaction's topics and its outcome, as they come."""
    seen: list[tuple[set[str], Outcome]] = []
    publish = KafkaProducer.publish

    def noting(self: KafkaProducer, outputs: list[Output], *rest: Any, **names: Any) -> Outcome:
        outcome = publish(self, outputs, *rest, **names)
        seen.append(({output.topic for output in outputs}, outcome))
        return outcome

    monkeypatch.setattr(KafkaProducer, "publish", noting)
    return seen
