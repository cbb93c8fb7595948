"""The rights that each role needs."""

from __future__ import annotations

import dataclasses

import pytest

from stream.config.settings import InputBinding, Outputs, Settings
from stream.topics import Right, needed_rights, planned_topics
from workers.endpoint import Endpoint

SETTINGS = Settings(endpoints={"sim": Endpoint("sim"), "chat": Endpoint("chat")})


def rights(role: str, settings: Settings = SETTINGS) -> list[Right]:
    return [right for right in needed_rights(settings) if right.role == role]


def may(role: str, operation: str, topic: str) -> bool:
    return any(
        operation in right.operations
        and right.resource == "topic"
        and (topic.startswith(right.name) if right.pattern == "prefixed" else right.name in {topic, "*"})
        for right in rights(role)
    )


def test_only_the_dispatcher_writes_work_topics() -> None:
    writers = [
        role
        for role in ("setup", "dispatcher", "worker", "operator")
        if may(role, "Write", "headrace.work.sim.batch")
    ]
    assert writers == ["dispatcher"]


def test_only_the_owner_may_trim_work_topics() -> None:
    assert may("worker", "Delete", "headrace.work.sim.batch")
    assert not may("dispatcher", "Delete", "headrace.work.sim.batch")


@pytest.mark.parametrize(
    "topic", ["headrace.results", "headrace.replies.x", "headrace.dead-letters", "headrace.usage"]
)
@pytest.mark.parametrize("role", ["worker", "dispatcher"])
def test_both_roles_write_every_output(role: str, topic: str) -> None:
    assert may(role, "Write", topic)


def test_a_worker_does_not_read_the_inputs() -> None:
    assert not may("worker", "Read", "headrace.requests")


def test_groups_and_transactional_ids_carry_the_prefix() -> None:
    settings = dataclasses.replace(SETTINGS, prefix="west.")
    named = [right for right in needed_rights(settings) if right.resource != "topic"]
    assert named
    assert all(right.name.startswith("west.") for right in named)


@pytest.mark.parametrize(
    ("pattern", "name", "kind"),
    [
        ("reviews", "reviews", "literal"),
        ("reviews.*", "reviews.", "prefixed"),
        ("*", "*", "literal"),
        (r"^reviews\.[a-z]+$", "reviews.", "prefixed"),
        ("^a|b", "*", "literal"),
        ("^ab*c", "a", "prefixed"),
        (".*", ".", "prefixed"),
    ],
)
def test_a_pattern_is_covered_by_what_all_its_names_begin_with(pattern: str, name: str, kind: str) -> None:
    settings = dataclasses.replace(SETTINGS, inputs=(InputBinding(pattern),))
    reads = [right for right in rights("dispatcher", settings) if right.operations[0] == "Read"]
    assert (reads[0].name, reads[0].pattern) == (name, kind)


@pytest.mark.parametrize("role", ["setup", "dispatcher", "worker"])
@pytest.mark.parametrize("operation", ["Describe", "DescribeConfigs"])
def test_every_role_may_look_at_every_planned_topic(role: str, operation: str) -> None:
    settings = dataclasses.replace(
        SETTINGS, inputs=(InputBinding("reviews"),), outputs=Outputs("out", "dead", ("out",))
    )
    for plan in planned_topics(settings):
        assert any(
            operation in right.operations
            and (right.name == plan.name or plan.name.startswith(settings.prefix))
            for right in rights(role, settings)
        )
