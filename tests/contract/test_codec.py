"""One suite for every codec: JSON, plain Avro, Avro with a real (loopback) schema registry."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from schemas.avro import AvroSchema
from schemas.avro_line import REQUEST_LINE, avro_of_line
from schemas.decode import JSON, REGISTRY, Decoder
from schemas.errors import BadRecord
from schemas.failure import ErrorClass, Stage
from schemas.registry import Registry
from schemas.registry_client import RegistryClient
from schemas.request import Body, Message, Request, Task
from schemas.wire import join_wire
from tests.schemas.lines import as_json, chat, completion, embedding
from tests.schemas.registry_server import registry_server, schema_reply

SCHEMA = AvroSchema(REQUEST_LINE)


@dataclass(frozen=True)
class Codec:
    """A way to write a line, and what reads it."""

    decoder: Decoder
    format: str
    write: Callable[[dict[str, Any]], bytes]

    def decode(self, line: dict[str, Any]) -> Request:
        return self.decoder.decode(self.write(line), self.format)


@pytest.fixture(params=["json", "avro", "registry"])
def codec(request: pytest.FixtureRequest) -> Iterator[Codec]:
    if request.param == "json":
        yield Codec(Decoder(), JSON, as_json)
    elif request.param == "avro":
        yield Codec(Decoder(avro=[SCHEMA]), SCHEMA.format, lambda line: avro_of_line(line, SCHEMA))
    else:
        with registry_server() as server:
            server.replies["/schemas/ids/7"] = schema_reply(REQUEST_LINE)
            client = RegistryClient(server.url, time.monotonic)
            decoder = Decoder(registry=Registry(client, time.monotonic))
            yield Codec(decoder, REGISTRY, lambda line: join_wire(7, avro_of_line(line, SCHEMA)))
            client.close()


FULL = chat(
    messages=[{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Héllo \U0001f600"}],
    max_tokens=32,
    temperature=0.5,
    top_p=1.0,
    n=2,
    stop=["\n", "END"],
    seed=-7,
    presence_penalty=0.5,
    frequency_penalty=-0.5,
    structured_outputs={"choice": ["good", "bad"]},
    metadata={"tenant": "acme"},
    prompt_cache_key="s-1",
    service_tier="flex",
)


def test_a_chat_with_every_field_is_read(codec: Codec) -> None:
    assert codec.decode(FULL) == Request(
        Task.CHAT,
        Body(
            "sim",
            [Message("system", "Be kind."), Message("user", "Héllo \U0001f600")],
            max_tokens=32,
            temperature=0.5,
            top_p=1.0,
            n=2,
            stop=["\n", "END"],
            seed=-7,
            presence_penalty=0.5,
            frequency_penalty=-0.5,
            structured_outputs={"choice": ["good", "bad"]},
            metadata={"tenant": "acme"},
            prompt_cache_key="s-1",
            service_tier="flex",
        ),
        "r-1",
    )


def test_completions_and_embeddings_are_read(codec: Codec) -> None:
    assert codec.decode(completion()) == Request(Task.COMPLETION, Body("sim", prompt="Once"), "r-1")
    assert codec.decode(embedding(input=["a", "b"])).body.input == ["a", "b"]


def test_a_schema_wished_for_is_the_same_object(codec: Codec) -> None:
    wish = {"type": "json_schema", "json_schema": {"name": "a", "schema": {"type": "object"}}}
    assert codec.decode(chat(response_format=wish)).body.response_format == wish


BAD = {
    "max_tokens 0": chat(max_tokens=0),
    "temperature 99": chat(temperature=99.0),
    "no messages": chat(messages=None),
    "empty messages": chat(messages=[]),
    "unknown role": chat(messages=[{"role": "robot", "content": "x"}]),
    "17 stops": chat(stop=["x"] * 17),
    "10,000 choices": chat(structured_outputs={"choice": ["x"] * 10_000}),
    "unknown url": {**chat(), "url": "/v1/images"},
    "unknown method": {**chat(), "method": "GET"},
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_invalid_with_the_same_words(codec: Codec, name: str) -> None:
    with pytest.raises(BadRecord) as caught:
        codec.decode(BAD[name])
    failure = caught.value.failure
    assert (failure.error_class, failure.stage) == (ErrorClass.INVALID, Stage.VALIDATE)
    with pytest.raises(BadRecord) as of_json:
        Decoder().decode(as_json(BAD[name]))
    assert failure.message == of_json.value.failure.message


def test_every_truncation_is_unreadable(codec: Codec) -> None:
    value = codec.write(FULL)
    for cut in range(0, len(value), 7):
        with pytest.raises(BadRecord) as caught:
            codec.decoder.decode(value[:cut], codec.format)
        assert caught.value.failure.error_class is ErrorClass.UNREADABLE


@pytest.mark.parametrize("value", [None, b"", b"\xff\xff\xff\xff\xff\xff"])
def test_nothing_and_nonsense_are_unreadable(codec: Codec, value: bytes | None) -> None:
    with pytest.raises(BadRecord) as caught:
        codec.decoder.decode(value, codec.format)
    assert (caught.value.failure.error_class, caught.value.failure.stage) == (
        ErrorClass.UNREADABLE,
        Stage.DECODE,
    )
