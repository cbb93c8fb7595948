"""Odd but good records are routed, untouched, with everything that was found out in headers."""

from __future__ import annotations

import json

import pytest

from cache.session_key import session_key
from cache.shard_map import uniform
from schemas.control import NO_CONTROL
from schemas.decode import Decoder
from schemas.headers import Headers
from schemas.lane import Lane
from stream.config.settings import InputBinding
from stream.log.base import Partition
from tests.stream.dispatcher.stage import NOW_MS, Stage, bound, line

GOOD = line()

ODD: dict[str, tuple[bytes, bytes | None, Headers]] = {
    "a null key": (GOOD, None, []),
    "an empty key": (GOOD, b"", []),
    "a binary key": (GOOD, bytes(range(256)), []),
    "a long key": (GOOD, b"k" * 10_000, []),
    "repeated headers": (GOOD, None, [("x", b"1"), ("x", b"2"), ("x", b"1")]),
    "empty and null headers": (GOOD, None, [("x", b""), ("y", None), ("headrace-lane", None)]),
    "a binary header": (GOOD, None, [("x", b"\xff\x00")]),
    "500 headers": (GOOD, None, [(f"h{i}", b"v") for i in range(500)]),
    "forged headers of the service": (
        GOOD,
        None,
        [("headrace-source", b"a/0/0"), ("headrace-version", b"9")],
    ),
    "a dead letter's headers": (GOOD, None, [("__dlq.errors.topic", b"t")]),
    "unknown fields": (line(extra=[1, {"a": None}], body_extra=1e30), None, []),
    "no custom_id": (line(custom_id=None), None, []),
    "a custom_id of 50 KB": (line(custom_id="x" * 50_000), None, []),
    "every plane of Unicode": (
        line(
            body_messages=[{"role": "user", "content": "".join(chr(p * 0x10000 + 0xFF) for p in range(17))}]
        ),
        None,
        [],
    ),
    "empty content": (line(body_messages=[{"role": "user", "content": ""}]), None, []),
    "null content": (line(body_messages=[{"role": "assistant", "content": None}]), None, []),
    "content in parts": (
        line(body_messages=[{"role": "user", "content": [{"type": "text", "text": "a"}]}]),
        None,
        [],
    ),
    "no method": (line(method=None), None, []),
    "64 levels": (b'{"x":' + b"[" * 63 + b"]" * 63 + b"," + GOOD[1:], None, []),
    "spaces around": (b" \n" + GOOD + b"\t", None, []),
    "12 MB": (line(body_messages=[{"role": "user", "content": "x" * 12_000_000}]), None, []),
    "max_completion_tokens": (line(body_max_tokens=None, body_max_completion_tokens=5), None, []),
}


@pytest.mark.parametrize("name", ODD)
def test_it_is_routed_as_it_came(name: str) -> None:
    value, key, headers = ODD[name]
    stage = Stage()
    stage.send(value, key=key, headers=headers)
    stage.dispatch()
    assert stage.dead == []
    [work] = stage.work
    assert (work.value, work.key) == (value, key)
    assert work.source == ("headrace.requests", 0, 0)
    assert (work.endpoint, work.tenant, work.lane, work.format) == ("sim", "default", Lane.BATCH, "json")
    assert work.source_timestamp_ms == NOW_MS - 50
    stage.assert_each_input_has_one_output()


@pytest.mark.parametrize(
    ("headers", "body", "lane", "tenant"),
    [
        ([], {}, "batch", "default"),
        ([("headrace-lane", b"provisioned")], {}, "provisioned", "default"),
        ([("headrace-lane", b"batch"), ("headrace-lane", b"interactive")], {}, "interactive", "default"),
        ([], {"body_service_tier": "priority"}, "provisioned", "default"),
        ([], {"body_service_tier": "auto"}, "interactive", "default"),
        ([("headrace-lane", b"batch")], {"body_service_tier": "auto"}, "batch", "default"),
        ([], {"body_metadata": {"tenant": "m"}}, "batch", "m"),
        ([("headrace-tenant", b"h")], {"body_metadata": {"tenant": "m"}}, "batch", "h"),
    ],
)
def test_lane_and_tenant_are_the_first_hit_of_the_table(
    headers: Headers, body: dict[str, object], lane: str, tenant: str
) -> None:
    stage = Stage()
    stage.send(line(**body), headers=headers)
    stage.dispatch()
    [work] = stage.work
    assert (work.lane, work.tenant) == (lane, tenant)


def test_what_an_input_is_bound_to_cannot_be_said_otherwise() -> None:
    stage = Stage(bound(InputBinding("reviews.*", tenant="acme", lane=Lane.PROVISIONED)))
    stage.topic("reviews.de")
    stage.send(
        line(body_metadata={"tenant": "m"}, body_service_tier="batch"),
        topic="reviews.de",
        headers=[("headrace-tenant", b"h"), ("headrace-lane", b"batch")],
    )
    stage.dispatch()
    [work] = stage.work
    assert (work.tenant, work.lane) == ("acme", "provisioned")


def test_one_session_meets_one_partition_in_every_lane() -> None:
    stage = Stage()
    for lane in (b"batch", b"interactive", b"provisioned"):
        for partition in range(4):
            stage.send(GOOD, key=b"user-7", headers=[("headrace-lane", lane)], partition=partition)
    stage.dispatch()
    places = {
        record.partition()
        for lane in ("batch", "interactive", "provisioned")
        for record in stage.records(f"headrace.work.sim.{lane}")
    }
    expected = session_key(NO_CONTROL, Decoder().decode(GOOD).body, b"user-7", "default")
    assert places == {uniform(4).place(expected.hash).partition}
    assert {work.session for work in stage.work} == {"user-7"}


def test_a_prefix_key_is_no_session() -> None:
    stage = Stage()
    stage.send(GOOD)
    stage.dispatch()
    [work] = stage.work
    [record] = stage.records("headrace.work.sim.batch")
    names = dict(record.headers() or [])
    assert work.session is None
    assert "headrace-route" in names
    assert names["headrace-map"] == b"1"
    assert int(names["headrace-slice"] or b"-1") >= 0


def test_many_sessions_reach_every_partition() -> None:
    stage = Stage()
    for number in range(200):
        stage.send(GOOD, key=b"user-%d" % number)
    stage.dispatch()
    places = {record.partition() for record in stage.records("headrace.work.sim.batch")}
    assert places == {0, 1, 2, 3}


def test_the_order_of_a_session_is_the_order_of_its_input() -> None:
    stage = Stage()
    stage.send(*[line(custom_id=str(number)) for number in range(3000)], key=b"one")
    stage.dispatch()
    order = [
        int(json.loads(record.value() or b"")["custom_id"])
        for record in stage.records("headrace.work.sim.batch")
    ]
    assert order == list(range(3000))


def test_control_headers_travel_and_can_be_restored() -> None:
    headers: Headers = [
        ("headrace-lane", b"interactive"),
        ("mine", b"1"),
        ("headrace-deadline-ms", str(NOW_MS + 1000).encode()),
        ("headrace-reply-to", b"headrace.results:1"),
        ("headrace-errors", b"result"),
    ]
    stage = Stage()
    stage.send(GOOD, headers=headers)
    stage.dispatch()
    [work] = stage.work
    assert (work.deadline_ms, work.reply_to, work.errors) == (
        NOW_MS + 1000,
        ("headrace.results", 1),
        "result",
    )
    assert work.passing == [("mine", b"1")]


def test_a_replayed_record_keeps_its_count() -> None:
    stage = Stage()
    stage.send(GOOD, headers=[("headrace-replay", b"2")])
    stage.send(b"no", headers=[("headrace-replay", b"3")])
    stage.dispatch()
    assert [work.replay for work in stage.work] == [2]
    assert [(letter.replay, letter.original_headers) for letter in stage.dead] == [(3, [])]


def test_a_topic_that_appears_later_and_matches_a_pattern_is_read() -> None:
    stage = Stage(bound(InputBinding("reviews.*")))
    made = stage.dispatcher()
    for _ in range(3):
        made.turn()
    stage.topic("reviews.new", 2)
    stage.send(GOOD, topic="reviews.new", partition=1)
    for _ in range(6):
        made.turn()
    made.close()
    assert [work.source for work in stage.work] == [("reviews.new", 1, 0)]


def test_a_reply_topic_made_after_a_refusal_is_found() -> None:
    stage = Stage()
    made = stage.dispatcher()
    to_app: Headers = [("headrace-reply-to", b"headrace.replies.app")]
    stage.send(GOOD, headers=to_app)
    for _ in range(4):
        made.turn()
    stage.topic("headrace.replies.app")
    stage.send(GOOD, headers=to_app)
    for _ in range(4):
        made.turn()
    made.close()
    assert [letter.source.offset for letter in stage.dead] == [0]
    assert [work.source.offset for work in stage.work] == [1]


def test_avro_with_a_schema_file_is_read(tmp_path_factory: pytest.TempPathFactory) -> None:
    from schemas.avro import AvroSchema  # noqa: PLC0415

    text = json.dumps(
        {
            "type": "record",
            "name": "Line",
            "fields": [
                {"name": "url", "type": "string"},
                {
                    "name": "body",
                    "type": {
                        "type": "record",
                        "name": "Body",
                        "fields": [{"name": "model", "type": "string"}, {"name": "prompt", "type": "string"}],
                    },
                },
            ],
        }
    )
    path = tmp_path_factory.mktemp("avro") / "line.avsc"
    path.write_text(text)
    schema = AvroSchema(text)
    value = schema.write({"url": "/v1/completions", "body": {"model": "sim", "prompt": "a"}})
    stage = Stage(bound(InputBinding("avro.lines", format="avro", schema=str(path))))
    stage.send(value, value[:-1], topic="avro.lines")
    stage.dispatch()
    [work] = stage.work
    assert (work.value, work.format) == (value, schema.format)
    [letter] = stage.dead
    assert (letter.failure.error_class, letter.failure.stage) == ("unreadable", "decode")
    assert Partition("avro.lines", 0) in stage.committed
