"""What a role must be allowed to do, on the log in memory."""

from __future__ import annotations

import dataclasses
from typing import cast

import pytest

from stream.config.settings import InputBinding, Outputs, Settings
from stream.errors import LogTimeout, RightMissing
from stream.log.base import LogAdmin, TopicDescription
from stream.log.memory.log import MemoryLog
from stream.topics import dispatcher_needs, ensure_topics, needed_rights, refuse_missing_rights, worker_needs
from stream.topics.allowed import Needs
from workers.endpoint import Endpoint

SETTINGS = Settings(
    endpoints={"sim": Endpoint("sim", engine="simulated"), "chat": Endpoint("chat", engine="simulated")}
)
EXISTING = {"headrace.requests": 8}
ROLES = [dispatcher_needs(SETTINGS, EXISTING), worker_needs(SETTINGS, "sim")]
RIGHTS = [
    (needs, topic, each) for needs in ROLES for topic, all_of_it in needs.topics.items() for each in all_of_it
]


@pytest.fixture
def log() -> MemoryLog:
    made = MemoryLog()
    ensure_topics(made.admin(), SETTINGS)
    return made


@pytest.mark.parametrize(
    ("needs", "topic", "operation"), RIGHTS, ids=lambda value: getattr(value, "role", value)
)
def test_each_missing_right_on_a_topic_is_named_with_what_to_do(
    log: MemoryLog, needs: Needs, topic: str, operation: str
) -> None:
    refuse_missing_rights(log.admin(), needs)
    log.deny(topic, operation)
    with pytest.raises(RightMissing) as raised:
        refuse_missing_rights(log.admin(), needs)
    [line] = str(raised.value).splitlines()
    assert line.startswith(
        f"the {needs.role} has no right to {operation} on topic {topic}: allow it with kafka-acls "
    )
    assert f"--topic {topic} --operation {operation} " in line


def test_all_missing_rights_come_at_once(log: MemoryLog) -> None:
    log.deny("headrace.work.sim.batch", "Read")
    log.deny("headrace.work.sim.batch", "Delete")
    log.deny("headrace.results")
    with pytest.raises(RightMissing) as raised:
        refuse_missing_rights(log.admin(), worker_needs(SETTINGS, "sim"))
    first, second = str(raised.value).splitlines()
    assert "Read and Delete on topic headrace.work.sim.batch: " in first
    assert "--operation Read --operation Delete " in first
    assert "Write on topic headrace.results: " in second


@pytest.mark.parametrize("needs", ROLES, ids=lambda needs: needs.role)
def test_what_a_role_must_be_allowed_is_among_its_printed_rights(needs: Needs) -> None:
    printed = [right for right in needed_rights(SETTINGS) if right.role == needs.role]
    for topic, operations in needs.topics.items():
        for operation in operations:
            assert any(
                right.resource == "topic"
                and operation in right.operations
                and (right.name == topic or (right.pattern == "prefixed" and topic.startswith(right.name)))
                for right in printed
            ), (topic, operation)


def test_a_worker_asks_nothing_of_another_endpoints_topics(log: MemoryLog) -> None:
    log.deny("headrace.work.chat.batch", "Read")
    refuse_missing_rights(log.admin(), worker_needs(SETTINGS, "sim"))


def test_an_input_that_a_pattern_names_must_be_readable_and_a_reply_topic_is_not_asked_about(
    log: MemoryLog,
) -> None:
    settings = dataclasses.replace(
        SETTINGS,
        inputs=(InputBinding("reviews.*"),),
        outputs=Outputs(
            "headrace.results", "headrace.dead-letters", ("headrace.results", "headrace.replies.*")
        ),
    )
    names = ("reviews.de", "headrace.replies.acme")
    log.admin().create([TopicDescription(name, 1, {}) for name in names], 1)
    log.deny("headrace.replies.acme")
    needs = dispatcher_needs(settings, log.admin().topics(1))
    refuse_missing_rights(log.admin(), needs)
    log.deny("reviews.de", "Read")
    with pytest.raises(RightMissing, match=r"to Read on topic reviews\.de: "):
        refuse_missing_rights(log.admin(), needs)


class Silent:
    """A broker that says nothing of rights."""

    def may_on_topics(self, names: list[str], timeout_s: float) -> dict[str, None]:
        return dict.fromkeys(names)


class Slow:
    def may_on_topics(self, names: list[str], timeout_s: float) -> dict[str, None]:
        raise LogTimeout("rights: no answer")


def test_what_nobody_can_say_is_not_refused(caplog: pytest.LogCaptureFixture) -> None:
    refuse_missing_rights(cast(LogAdmin, Silent()), ROLES[0])
    assert not caplog.records
    refuse_missing_rights(cast(LogAdmin, Slow()), ROLES[0])
    [record] = caplog.records
    assert "nobody says what the dispatcher may do" in record.message
