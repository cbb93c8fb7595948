"""Every bound of a request: what is outside is `invalid` at `validate`, names its field and what would be right."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.decode import Decoder
from schemas.errors import BadRecord
from schemas.failure import ErrorClass, Stage
from tests.schemas.lines import as_json, chat, completion, embedding

DECODER = Decoder()


def line_with(**fields: Any) -> dict[str, Any]:
    return {**chat(), **fields}


def line_without(name: str) -> dict[str, Any]:
    return {key: value for key, value in chat().items() if key != name}


def says(content: Any, role: Any = "user") -> dict[str, Any]:
    return chat(messages=[{"role": role, "content": content}])


CALL = {"id": "1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
INVALID: dict[str, tuple[Any, str]] = {
    "no body": (line_without("body"), r"\$\.body: missing"),
    "null body": (line_with(body=None), r"\$\.body: expected object, got null"),
    "text body": (line_with(body="x"), r"\$\.body: expected object, got str"),
    "list body": (line_with(body=[]), r"\$\.body: expected object, got array"),
    "no url": (line_without("url"), r"\$\.url: missing"),
    "number url": (line_with(url=1), r"\$\.url: expected str, got int"),
    "unknown url": (
        line_with(url="/v1/images"),
        r"\$\.url: '/v1/images' is unknown; right is one of /v1/chat",
    ),
    "later url": (line_with(url="/serving-endpoints/sim/invocations"), r"\$\.url: .* is unknown"),
    "unknown method": (line_with(method="GET"), r"\$\.method: 'GET' is unknown; right is \"POST\""),
    "number method": (line_with(method=1), r"\$\.method: expected .*got int"),
    "number custom_id": (line_with(custom_id=5), r"\$\.custom_id: expected .*right is text or null"),
    "no model": (chat(model=...), r"\$\.body\.model: missing; right is text"),
    "null model": (chat(model=None), r"\$\.body\.model: expected str, got null"),
    "number model": (chat(model=5), r"\$\.body\.model: expected str, got int"),
    "no messages": (chat(messages=...), r"\$\.body\.messages: missing"),
    "null messages": (chat(messages=None), r"\$\.body\.messages: missing"),
    "empty messages": (chat(messages=[]), r"\$\.body\.messages: expected array of length >= 1"),
    "text messages": (chat(messages="hi"), r"\$\.body\.messages: expected array .*got str"),
    "object messages": (chat(messages={}), r"\$\.body\.messages: expected array .*got object"),
    "messages of text": (chat(messages=["hi"]), r"\$\.body\.messages\[\d\]: expected object, got str"),
    "no role": (chat(messages=[{"content": "x"}]), r"\$\.body\.messages\[\d\]\.role: missing"),
    "unknown role": (
        says("x", "robot"),
        r"messages\[\d\]\.role: invalid enum value 'robot'; right is one of",
    ),
    "number content": (says(5), r"messages\[\d\]\.content: expected .*got int"),
    "picture content": (
        says([{"type": "image_url", "image_url": {}}]),
        r"messages\[0\]\.content\[0\]: image_url is not a text part; this version takes text only",
    ),
    "part without text": (says([{"type": "text"}]), r"messages\[0\]\.content\[0\]: not a text part"),
    "user without content": (says(None), r"messages\[0\]\.content: missing; right is text, or a list"),
    "user with no part": (says([]), r"messages\[0\]\.content: missing"),
    "tool call of no function": (
        chat(messages=[{"role": "assistant", "tool_calls": [{"id": "1"}]}]),
        r"messages\[0\]\.tool_calls\[0\]\.function: missing or wrong; right is an object",
    ),
    "max_tokens 0": (
        chat(max_tokens=0),
        r"\$\.body\.max_tokens: expected int >= 1; right is a whole number from 1",
    ),
    "max_tokens -1": (chat(max_tokens=-1), r"\$\.body\.max_tokens: expected int >= 1"),
    "max_tokens 2^31": (chat(max_tokens=2**31), r"\$\.body\.max_tokens: expected int <= 2147483647"),
    "max_tokens 2^63": (chat(max_tokens=2**63), r"\$\.body\.max_tokens: expected int <= 2147483647"),
    "max_tokens 10^400": (chat(max_tokens=10**400), r"\$\.body\.max_tokens: expected int <= 2147483647"),
    "max_tokens text": (chat(max_tokens="many"), r"\$\.body\.max_tokens: expected int.*got str"),
    "max_tokens half": (chat(max_tokens=1.5), r"\$\.body\.max_tokens: expected int.*got float"),
    "max_tokens true": (chat(max_tokens=True), r"\$\.body\.max_tokens: expected int.*got bool"),
    "max_completion_tokens 0": (chat(max_completion_tokens=0), r"\$\.body\.max_completion_tokens: "),
    "temperature -1": (
        chat(temperature=-1),
        r"\$\.body\.temperature: expected float >= 0.0; right is .*0 to 2",
    ),
    "temperature 99": (chat(temperature=99), r"\$\.body\.temperature: expected float <= 2.0"),
    "temperature text": (chat(temperature="hot"), r"\$\.body\.temperature: expected float.*got str"),
    "top_p 0": (chat(top_p=0), r"\$\.body\.top_p: expected float > 0.0"),
    "top_p 1.1": (chat(top_p=1.1), r"\$\.body\.top_p: expected float <= 1.0"),
    "n 0": (chat(n=0), r"\$\.body\.n: expected int >= 1"),
    "n 9": (chat(n=9), r"\$\.body\.n: expected int <= 8"),
    "17 stops": (chat(stop=["x"] * 17), r"\$\.body\.stop: expected array of length <= 16"),
    "1,000 stops": (chat(stop=["x"] * 1_000), r"\$\.body\.stop: expected array of length <= 16"),
    "empty stop": (chat(stop=""), r"\$\.body\.stop: expected str of length >= 1"),
    "empty stop in a list": (chat(stop=["a", ""]), r"\$\.body\.stop\[\d\]: expected str of length >= 1"),
    "number stop": (chat(stop=5), r"\$\.body\.stop: expected .*got int"),
    "seed 2^63": (chat(seed=2**63), r"\$\.body\.seed: "),
    "presence_penalty 3": (chat(presence_penalty=3), r"\$\.body\.presence_penalty: expected float <= 2.0"),
    "frequency_penalty -3": (
        chat(frequency_penalty=-3),
        r"\$\.body\.frequency_penalty: expected float >= -2.0",
    ),
    "metadata of numbers": (chat(metadata={"a": 1}), r"\$\.body\.metadata\[\.\.\.\]: expected str, got int"),
    "service_tier gold": (chat(service_tier="gold"), r"\$\.body\.service_tier: invalid enum value 'gold'"),
    "completion without prompt": (completion(prompt=None), r"\$\.body\.prompt: missing"),
    "completion of 65 prompts": (
        completion(prompt=["a"] * 65),
        r"\$\.body\.prompt: 65 texts; right are at most 64 in one request",
    ),
    "completion of a mixture": (
        completion(prompt=["a", [1]]),
        r"\$\.body\.prompt: texts and token ids are mixed",
    ),
    "completion of a text inside token ids": (
        completion(prompt=[["a"]]),
        r"\$\.body\.prompt\[\d\]\[\d\]: expected int, got str; right is text, token ids, or a list",
    ),
    "completion of no tokens": (completion(prompt=[]), r"\$\.body\.prompt: expected array of length >= 1"),
    "completion of a negative token": (
        completion(prompt=[-1]),
        r"\$\.body\.prompt\[\d\]: expected int >= 0",
    ),
    "embedding without input": (embedding(input=None), r"\$\.body\.input: missing"),
    "embedding of nothing": (embedding(input=[]), r"\$\.body\.input: expected array of length >= 1"),
    "embedding of many texts": (
        embedding(input=["a"] * 2_049),
        r"\$\.body\.input: 2049 texts; right are at most 2048",
    ),
    "embedding of a million tokens": (
        embedding(input=[1] * 1_000_001),
        r"\$\.body\.input: expected array of length <=",
    ),
    "embedding of a mixture": (embedding(input=["a", 1]), r"\$\.body\.input: texts and token ids are mixed"),
    "a chat sent as a completion": ({**chat(), "url": "/v1/completions"}, r"\$\.body\.prompt: missing"),
}


@pytest.mark.parametrize("name", INVALID)
def test_it_is_invalid(name: str) -> None:
    line, message = INVALID[name]
    with pytest.raises(BadRecord, match=message) as caught:
        DECODER.decode(as_json(line))
    failure = caught.value.failure
    assert (failure.error_class, failure.stage) == (ErrorClass.INVALID, Stage.VALIDATE)


def test_1e400_in_a_known_field_is_invalid_not_unreadable() -> None:
    value = as_json(chat(temperature=7)).replace(b"7", b"1e400")
    with pytest.raises(BadRecord, match=r"\$\.body\.temperature: number out of range") as caught:
        DECODER.decode(value)
    assert caught.value.failure.error_class is ErrorClass.INVALID


VALID: dict[str, dict[str, Any]] = {
    "the largest max_tokens": chat(max_tokens=2**31 - 1),
    "the ends of temperature": chat(temperature=2, top_p=1),
    "temperature as a whole number": chat(temperature=0),
    "the ends of n and stop": chat(n=8, stop=["x"] * 16),
    "one stop": chat(stop="\n"),
    "no stops": chat(stop=[]),
    "nulls": chat(max_tokens=None, temperature=None, stop=None, metadata=None, service_tier=None),
    "every role": chat(
        messages=[{"role": r, "content": "x"} for r in ("system", "developer", "user", "assistant", "tool")]
    ),
    "tool calls": chat(messages=[{"role": "assistant", "content": None, "tool_calls": [CALL]}]),
    "parts": says([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
    "parts that are texts": says(["a"]),
    "prompts of text": completion(prompt=["a", "b"]),
    "prompts of tokens": completion(prompt=[[1, 2], [3]]),
    "inputs of tokens": embedding(input=[[1, 2], [3]]),
    "a prompt of tokens": completion(prompt=[0, 1, 2**31 - 1]),
    "inputs of text": embedding(input=["a", ""]),
    "an input of tokens": embedding(input=[1, 2]),
    "inputs of the most texts": embedding(input=["a"] * 2_048),
    "an input of many tokens": embedding(input=[1] * 10_000),
}


@pytest.mark.parametrize("name", VALID)
def test_it_is_valid(name: str) -> None:
    DECODER.decode(as_json(VALID[name]))


def test_max_completion_tokens_is_max_tokens() -> None:
    assert DECODER.decode(as_json(chat(max_completion_tokens=7))).body.tokens_max == 7
    assert DECODER.decode(as_json(chat(max_tokens=9))).body.tokens_max == 9
    assert DECODER.decode(as_json(chat(max_tokens=9, max_completion_tokens=7))).body.tokens_max == 7


def test_a_long_wrong_value_does_not_fill_the_message() -> None:
    with pytest.raises(BadRecord) as caught:
        DECODER.decode(as_json(line_with(url="u" * 100_000)))
    assert len(caught.value.failure.message) < 400
