"""A registry that is down stops only the partitions that need it, and loses nothing."""

from __future__ import annotations

import threading
import time

import pytest

from schemas.avro import AvroSchema
from schemas.errors import BadRecord, RegistryUnavailable
from stream.config.settings import InputBinding
from stream.dispatcher.loop import Dispatcher
from stream.log.base import Partition
from stream.role.async_registry import ASKED_MAX, AsyncRegistry
from tests.stream.dispatcher.stage import INPUT, Stage, bound, line

GOOD = line()
TOPIC = "avro.lines"
SCHEMA = AvroSchema(
    '{"type": "record", "name": "L", "fields": [{"name": "url", "type": "string"}, {"name": "body", "type": '
    '{"type": "record", "name": "B", "fields": [{"name": "model", "type": "string"}, '
    '{"name": "prompt", "type": "string"}]}}]}'
)
PAYLOAD = SCHEMA.write({"url": "/v1/completions", "body": {"model": "sim", "prompt": "a"}})
WIRE = b"\0\0\0\0\x07" + PAYLOAD


class Registry:
    """Knows schema 7, when it is up."""

    def __init__(self) -> None:
        self.up = False
        self.asked = 0
        self.known: set[int] = set()

    def schema(self, schema_id: int) -> AvroSchema:
        self.asked += 1
        self.known.discard(schema_id)
        if not self.up:
            raise RegistryUnavailable("the registry is down")
        if schema_id != 7:
            self.known.add(schema_id)
            raise BadRecord.unreadable(f"schema id {schema_id} is unknown")
        self.known.add(schema_id)
        return SCHEMA

    def remembered(self, schema_id: int) -> AvroSchema | None:
        if schema_id in self.known and schema_id != 7:
            raise BadRecord.unreadable(f"schema id {schema_id} is unknown")
        return SCHEMA if schema_id in self.known else None


def stage_with(registry: Registry) -> Stage:
    return Stage(bound(InputBinding(TOPIC, format="avro-registry")), registry=registry)


def answered(asking: AsyncRegistry) -> None:
    while not asking.idle:
        time.sleep(0.01)


def turn(made: Dispatcher, times: int = 8) -> None:
    for _ in range(times):
        made.turn()


def test_the_partition_waits_and_the_others_flow_until_the_registry_answers() -> None:
    registry = Registry()
    stage = stage_with(registry)
    made = stage.dispatcher()
    stage.send(WIRE, WIRE, topic=TOPIC)
    stage.send(GOOD)
    turn(made)
    assert [work.source.topic for work in stage.work] == [INPUT]
    asked = registry.asked
    turn(made)
    assert registry.asked == asked
    stage.send(WIRE, topic=TOPIC)
    stage.send(GOOD)
    stage.seconds += 100
    turn(made)
    assert registry.asked == asked + 1
    assert len(stage.work) == 2
    registry.up = True
    stage.seconds += 100
    turn(made)
    assert [work.source.offset for work in stage.work if work.source.topic == TOPIC] == [0, 1, 2]
    assert {work.format for work in stage.work if work.source.topic == TOPIC} == {"registry"}
    made.close()
    stage.assert_each_input_has_one_output(INPUT, TOPIC)


def test_a_restart_while_the_registry_is_down_loses_nothing() -> None:
    registry = Registry()
    stage = stage_with(registry)
    stage.send(WIRE, WIRE, topic=TOPIC)
    stage.dispatch()
    found = stage.committed[Partition(TOPIC, 0)]
    assert found is None or found.offset == 0
    registry.up = True
    stage.dispatch()
    assert len(stage.work) == 2
    stage.assert_each_input_has_one_output(TOPIC)


def test_an_unknown_schema_id_and_truncated_avro_are_unreadable() -> None:
    registry = Registry()
    registry.up = True
    stage = stage_with(registry)
    stage.send(b"\0\0\0\0\x08" + PAYLOAD, WIRE[:-1], WIRE + b"x", b"\0\0", GOOD, WIRE, topic=TOPIC)
    stage.dispatch()
    assert [(d.source.offset, d.failure.error_class, d.failure.stage) for d in stage.dead] == [
        (offset, "unreadable", "decode") for offset in range(5)
    ]
    assert [work.source.offset for work in stage.work] == [5]


def test_the_asking_registry_never_makes_the_caller_wait() -> None:
    gate = threading.Event()

    class Slow(Registry):
        def schema(self, schema_id: int) -> AvroSchema:
            gate.wait(120)
            return super().schema(schema_id)

    source = Slow()
    source.up = True
    asking = AsyncRegistry(source)
    for schema_id in (7, 8, 7):
        with pytest.raises(RegistryUnavailable):
            asking.schema(schema_id)
    gate.set()
    answered(asking)
    assert asking.schema(7) is SCHEMA
    with pytest.raises(BadRecord, match="8 is unknown"):
        asking.schema(8)
    assert source.asked == 2
    asking.close()


def test_an_answer_is_remembered_for_the_records_that_follow() -> None:
    source = Registry()
    source.up = True
    asking = AsyncRegistry(source)
    for schema_id in (7, 8):
        with pytest.raises(RegistryUnavailable):
            asking.schema(schema_id)
    answered(asking)
    for _ in range(40):
        assert asking.schema(7) is SCHEMA
        with pytest.raises(BadRecord, match="8 is unknown"):
            asking.schema(8)
    assert source.asked == 2
    asking.close()


def test_answers_that_nobody_comes_for_make_room() -> None:
    source = Registry()
    source.up = True
    asking = AsyncRegistry(source)
    for schema_id in range(100, 100 + ASKED_MAX):
        with pytest.raises(RegistryUnavailable):
            asking.schema(schema_id)
    answered(asking)
    with pytest.raises(RegistryUnavailable):
        asking.schema(7)
    answered(asking)
    assert asking.schema(7) is SCHEMA
    asking.close()


def test_a_failed_question_is_asked_again() -> None:
    source = Registry()
    asking = AsyncRegistry(source)
    with pytest.raises(RegistryUnavailable):
        asking.schema(7)
    answered(asking)
    with pytest.raises(RegistryUnavailable, match="down"):
        asking.schema(7)
    source.up = True
    with pytest.raises(RegistryUnavailable):
        asking.schema(7)
    answered(asking)
    assert asking.schema(7) is SCHEMA
    asking.close()
