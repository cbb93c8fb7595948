"""The contract of the client: the same on its fake and on a real Kafka."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import closing
from typing import Any

import msgspec
import pytest

from schemas import headers as names
from schemas.lane import Lane
from stream.client.addressing import Addressing, Given
from stream.client.async_client import AsyncClient
from stream.client.client import Client
from stream.client.errors import AnswersMissing, NotDelivered, NotSubmitted
from stream.client.fake_service import FakeService
from stream.client.lanes import Key
from stream.client.submission import Addressed
from stream.config.settings import InputBinding, Limits, Outputs, Settings
from stream.errors import LogError, UsageError, WaitedTooLong
from stream.exactly_once.offset_map import OffsetMap, encode
from stream.log.base import OffsetCommit, Partition, Success, TopicDescription
from stream.log.kafka.log import KafkaLog
from stream.topics import ensure_topics
from tests.stream.client.in_memory import Nobody
from workers.endpoint import Endpoint

PATIENCE_S = 60.0


def settings(prefix: str) -> Settings:
    replies = f"{prefix}replies.*"
    return Settings(
        prefix=prefix,
        inputs=(InputBinding(f"{prefix}requests"),),
        outputs=Outputs(f"{prefix}results", f"{prefix}dead-letters", (f"{prefix}results", replies)),
        endpoints={"sim": Endpoint("sim", engine="simulated", partitions=1)},
        limits=Limits(value_bytes_max=10_000),
    )


@pytest.fixture(params=["memory", pytest.param("kafka", marks=pytest.mark.broker)])
def client(request: pytest.FixtureRequest, unique: Callable[[str], str]) -> Client:
    own = settings(f"{unique('client')}.")
    if request.param == "memory":
        return Client.in_memory(own)
    log = KafkaLog(request.getfixturevalue("kafka").bootstrap_servers, {})
    ensure_topics(log.admin(), own)
    return Client(log, own)


def line(custom_id: str, text: str = "hello") -> dict[str, Any]:
    body = {"model": "sim", "messages": [{"role": "user", "content": text}]}
    return {"custom_id": custom_id, "method": "POST", "url": "/v1/chat/completions", "body": body}


def test_questions_get_their_answers_in_their_order(client: Client) -> None:
    with FakeService(client):
        answers = client.ask([line(f"r-{n}", f"text {n}") for n in range(20)], timeout_s=PATIENCE_S)
    assert [answer.custom_id for answer in answers] == [f"r-{n}" for n in range(20)]
    assert [answer.text for answer in answers] == [f"text {n}" for n in range(20)]


def test_a_line_that_is_wrong_has_a_dead_letter_for_its_answer(client: Client) -> None:
    with FakeService(client):
        bad, good = client.ask(["not JSON", line("good")], timeout_s=PATIENCE_S)
    assert good.ok
    assert (bad.ok, bad.error_class, bad.stage, bad.value) == (False, "invalid", "validate", b"not JSON")
    with pytest.raises(ValueError, match=r"no answer to .*requests/./.: invalid"):
        _ = bad.body


def test_lines_of_one_transaction_are_awaited_by_their_custom_id(client: Client) -> None:
    with FakeService(client), client.answers() as answers:
        client.submit_together([line("a"), line("b")], f"{client.settings.prefix}together")
        found = answers.by_custom_id(["b", "a"], PATIENCE_S)
    assert list(found) == ["b", "a"]


def test_of_a_transaction_that_is_aborted_nothing_is_there(client: Client) -> None:
    large = line("large", "x" * 20 * 1024 * 1024)
    with pytest.raises(NotSubmitted, match="none is there"):
        client.submit_together([line("a"), large], f"{client.settings.prefix}together")
    assert list(client.read(client.settings.inputs[0].pattern, timeout_s=PATIENCE_S)) == []


def test_a_line_that_is_too_long_is_named_and_its_neighbours_arrive(client: Client) -> None:
    with pytest.raises(NotDelivered, match="1 of 3 lines did not arrive: line 1: is longer than") as caught:
        client.submit([line("a"), line("b", "x" * 20_000), line("c")])
    assert list(caught.value.problems) == [1]
    assert sorted(caught.value.sources) == [0, 2]


def test_an_answer_that_does_not_come_is_named_and_those_that_came_are_kept(client: Client) -> None:
    with client.answers() as answers:
        with FakeService(client):
            client.submit([line("a")])
            answers.by_custom_id(["a"], PATIENCE_S)
            client.submit([line("b")])
            with pytest.raises(AnswersMissing, match="not that of never") as caught:
                answers.by_custom_id(["b", "never"], 5)
        assert caught.value.missing == ["never"]
        assert list(answers.by_custom_id(["b"], PATIENCE_S)) == ["b"]


def test_answers_that_are_there_already_are_read_from_the_first_record(client: Client) -> None:
    with FakeService(client):
        [first] = client.ask([line("early")], timeout_s=PATIENCE_S)
    with client.answers(begin="earliest") as answers:
        assert answers.by_source([first.source], PATIENCE_S) == {first.source: first}


def test_answers_on_a_reply_topic_are_awaited_where_it_is_named(client: Client) -> None:
    topic = f"{client.settings.prefix}replies.mine"
    client.log.admin().create([TopicDescription(topic, 1, {})], PATIENCE_S)
    beside = Addressing([(names.REPLY_TO, topic.encode()), (names.ERRORS, b"result")])
    with FakeService(client), client.answers(topics=[topic]) as answers:
        client.submit([line("a"), "[]"], addressing=beside)
        found = answers.by_custom_id(["a"], PATIENCE_S)
    assert found["a"].ok
    assert [record.topic() for record in client.read(topic, count=2, timeout_s=PATIENCE_S)] == [topic] * 2


def test_records_are_read_as_lines_up_to_the_present_end(client: Client) -> None:
    client.submit([line("a"), line("b")])
    lines = list(client.read_lines(client.settings.inputs[0].pattern, values=True, timeout_s=PATIENCE_S))
    assert sorted(msgspec.json.decode(one)["custom_id"] for one in lines) == ["a", "b"]
    whole = list(client.read_lines(client.settings.inputs[0].pattern, timeout_s=PATIENCE_S))
    assert {msgspec.json.decode(one)["encoding"] for one in whole} == {"json"}


def test_what_is_more_than_there_is_is_waited_for_and_given_up(client: Client) -> None:
    client.submit([line("a")])
    with pytest.raises(WaitedTooLong, match=r"records in 2 s, 5 were asked for"):
        list(client.read(client.settings.inputs[0].pattern, count=5, timeout_s=2))


def test_only_input_topics_that_are_there_take_lines(client: Client) -> None:
    with pytest.raises(UsageError, match="Headrace's own"):
        client.submit([line("a")], topic=client.settings.outputs.results)
    with pytest.raises(UsageError, match="no topic"):
        client.submit([line("a")], topic=f"{client.settings.prefix}request")


def test_each_line_may_have_a_key_and_headers_of_its_own(client: Client) -> None:
    own = Addressed(b'{"custom_id": "own"}', b"mine", [("a", b"1")])
    client.submit([own, line("c")], addressing=Addressing(key=Given(field="custom_id")))
    records = client.read(client.settings.inputs[0].pattern, timeout_s=PATIENCE_S)
    assert sorted((record.key(), record.headers() or []) for record in records) == [
        (b"c", []),
        (b"mine", [("a", b"1")]),
    ]


def test_a_line_without_the_field_of_its_key_is_named_and_nothing_is_sent(client: Client) -> None:
    with pytest.raises(UsageError, match="line 1 has no text or whole number at 'user'; nothing was sent"):
        client.submit([{"user": "ann"}, line("b")], addressing=Addressing(key=Given(field="user")))
    assert list(client.read(client.settings.inputs[0].pattern, timeout_s=PATIENCE_S)) == []


def done(client: Client, group: str, place: Partition, offsets: OffsetMap) -> None:
    """Committed, as a member of the group does it."""
    with (
        closing(client.log.consumer(group)) as member,
        closing(client.log.producer(f"{group}.tests")) as producer,
    ):
        producer.start(PATIENCE_S)
        member.subscribe([place.topic], Nobody())
        while not member.group().valid:
            member.poll(1, 0.1)
        commit = OffsetCommit(*place, offsets.base, encode(offsets))
        assert isinstance(producer.publish([], [commit], member.group()), Success)


def test_a_group_is_followed_to_the_end_of_what_was_there(client: Client) -> None:
    topic, group = f"{client.settings.prefix}replies.followed", f"{client.settings.prefix}someone"
    client.log.admin().create([TopicDescription(topic, 1, {})], PATIENCE_S)
    client.submit([line(f"r-{n}") for n in range(10)], topic=topic)
    following, place = client.follow(group, [topic]), Partition(topic, 0)
    assert following.look().words().startswith("0 of 10 (0 %)")
    done(client, group, place, OffsetMap(4, 5, (4,)))
    client.submit([line("later")], topic=topic)
    assert following.look().done == 5
    assert client.positions(group, [topic])[place].lag == 6
    done(client, group, place, OffsetMap.empty(11))
    last = following.look()
    assert (last.done, last.rows, last.left_s) == (10, 10, (0.0, 0.0))


def test_the_lanes_of_every_endpoint_are_told(client: Client) -> None:
    works = client.lanes(0.1)
    assert works[Key("sim", Lane.BATCH)].lag == 0


def test_an_event_loop_asks_and_reads_without_being_held_up(client: Client) -> None:
    async def both() -> tuple[list[str], int]:
        async with AsyncClient(client) as calls:
            first, second = await asyncio.gather(
                calls.ask([line("a", "one")], timeout_s=PATIENCE_S),
                calls.ask([line("b", "two")], timeout_s=PATIENCE_S),
            )
            topic = client.settings.outputs.results
            records = [record async for record in calls.read(topic, timeout_s=PATIENCE_S)]
            return [answer.text for answer in (*first, *second)], len(records)

    with FakeService(client):
        assert asyncio.run(both()) == (["one", "two"], 2)


def test_an_error_of_a_call_reaches_the_event_loop(client: Client) -> None:
    async def ask() -> None:
        async with AsyncClient(client) as calls:
            await calls.submit([line("a")], topic="nowhere")

    with pytest.raises(UsageError, match="no topic 'nowhere'"):
        asyncio.run(ask())


def test_what_breaks_in_the_fake_service_is_not_swallowed() -> None:
    client = Client.in_memory()

    def broken(_request: dict[str, Any]) -> str:
        raise LogError("broken")

    def asked() -> None:
        with FakeService(client, broken):
            client.ask([line("a")], timeout_s=2)

    with pytest.raises(LogError, match="broken"):
        asked()
