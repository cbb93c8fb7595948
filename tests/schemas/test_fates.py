"""A field is honoured, refused by name or named in the result: by the field, and for any mixture of them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.bodies import LINE_OF, ChatBody
from schemas.decode import Decoder
from schemas.errors import BadRecord
from schemas.failure import ErrorClass
from schemas.fields.bodies import BODY_OF
from schemas.fields.level import Fate
from schemas.fields.messages import MESSAGE_OF, PART_OF, REFUSED_PARTS, TEXT_FIELD_OF
from schemas.request import Body, Request
from schemas.task import Task
from tests.schemas.field_values import (
    ASKING,
    BESIDE,
    LEAST,
    TOOLS,
    fields_of,
    line_of,
    line_with,
    value_of,
)
from tests.schemas.lines import as_json, chat

DECODER = Decoder()


def decoded(line: dict[str, Any]) -> Request:
    return DECODER.decode(as_json(line))


@pytest.mark.parametrize(("task", "name"), fields_of(Fate.HONOURED))
def test_an_honoured_field_reaches_the_body(task: Task, name: str) -> None:
    request = decoded(line_with(task, name))
    assert msgspec.to_builtins(request.body)[name] == value_of(task, name)
    assert request.ignored == ()


@pytest.mark.parametrize(("task", "name"), fields_of(Fate.REFUSED))
def test_a_refused_field_is_refused_by_name_with_what_to_do(task: Task, name: str) -> None:
    with pytest.raises(BadRecord) as caught:
        decoded(line_of(task, **{name: ASKING.get(name, 1)}))
    words = BODY_OF[task].fields[name].words
    assert caught.value.failure.error_class is ErrorClass.INVALID
    assert caught.value.failure.message == f"$.body.{name}: not taken; {words}"


@pytest.mark.parametrize(("task", "name"), fields_of(Fate.NAMED))
def test_a_known_field_without_effect_is_named(task: Task, name: str) -> None:
    request = decoded(line_of(task, **{name: ASKING.get(name, "x")}))
    assert (request.ignored, request.ignored_count) == ((f"$.body.{name}",), 1)
    assert request.body == decoded(line_of(task)).body


@pytest.mark.parametrize(("task", "name"), [*fields_of(Fate.REFUSED), *fields_of(Fate.NAMED)])
def test_null_and_what_happens_anyway_ask_for_nothing(task: Task, name: str) -> None:
    for value in (None, *BODY_OF[task].fields[name].neutral):
        assert decoded(line_of(task, **{name: value})) == decoded(line_of(task))


@pytest.mark.parametrize("task", Task)
def test_bodies_have_the_honoured_fields_and_no_others(task: Task) -> None:
    (body,) = [field.type for field in msgspec.structs.fields(LINE_OF[task]) if field.name == "body"]
    usual_of_others = set(Body.__struct_fields__) - BODY_OF[task].honoured
    assert set(body.__struct_fields__) - usual_of_others == BODY_OF[task].honoured


def test_unknown_fields_are_named_at_every_level() -> None:
    call = {"id": "1", "type": "function", "x": 1, "function": {"name": "look", "arguments": {}, "x": 1}}
    line = chat(
        messages=[
            {"role": "user", "content": [{"type": "text", "text": "a", "x": 1}], "x": 1, "tool_call_id": "1"},
            {"role": "assistant", "tool_calls": [call], "refusal": "no"},
        ],
        tools=[{"type": "function", "x": 1, "function": {"name": "look", "x": 1}}],
        tool_choice={"type": "function", "function": {"name": "look", "x": 1}, "x": 1},
        repetition_detection={"x": 1},
        metadata={"tenant": "a", "x": "1"},
        prompt="a",
        **{"odd name": 1},
    )
    request = decoded({**line, "x": 1})
    assert sorted(request.ignored) == sorted(
        [
            "$.x",
            "$.body.prompt",
            '$.body["odd name"]',
            "$.body.metadata.x",
            "$.body.repetition_detection.x",
            "$.body.tool_choice.x",
            "$.body.tool_choice.function.x",
            "$.body.tools[0].x",
            "$.body.tools[0].function.x",
            "$.body.messages[0].x",
            "$.body.messages[0].tool_call_id",
            "$.body.messages[0].content[0].x",
            "$.body.messages[1].refusal",
            "$.body.messages[1].tool_calls[0].x",
            "$.body.messages[1].tool_calls[0].function.x",
        ]
    )
    assert '"x"' not in msgspec.json.encode(request.body).decode().replace('"x":"1"', "")


def test_a_format_names_what_it_does_not_know_and_leaves_the_schema_alone() -> None:
    schema = {"type": "object", "x-mark": 1}
    held = {"type": "json_schema", "x": 1, "json_schema": {"name": "a", "schema": schema, "x": 1}}
    request = decoded(chat(response_format=held))
    assert sorted(request.ignored) == ["$.body.response_format.json_schema.x", "$.body.response_format.x"]
    assert request.body.response_format == {
        "type": "json_schema",
        "json_schema": {"name": "a", "schema": schema},
    }


def test_null_is_absent_in_small_objects_too() -> None:
    request = decoded(
        chat(repetition_detection={"min_count": None}, chat_template_kwargs={"thinking": None}, tools=TOOLS)
    )
    assert isinstance(request.body, ChatBody)
    assert (request.body.repetition_detection, request.body.chat_template_kwargs) == ({}, {})


def test_twenty_paths_are_named_and_all_are_counted() -> None:
    request = decoded(chat(**{f"x{place}": 1 for place in range(50)}))
    assert (len(request.ignored), request.ignored_count) == (20, 50)
    long = decoded(chat(**{"y" * 9_000: 1})).ignored[0]
    assert len(long) <= 200


@pytest.mark.parametrize("name", REFUSED_PARTS)
def test_a_part_that_is_no_text_is_refused_by_name(name: str) -> None:
    for part in ({"type": name, name: {}}, {"type": "text", "text": "a", name: "b"}):
        with pytest.raises(
            BadRecord, match=rf"content\[0\]: {name} is not a text part; {REFUSED_PARTS[name]}"
        ):
            decoded(chat(messages=[{"role": "user", "content": [part]}]))


@pytest.mark.parametrize("name", PART_OF)
def test_a_part_of_text_is_kept(name: str) -> None:
    part = {"type": name, TEXT_FIELD_OF[name]: "a"}
    messages = decoded(chat(messages=[{"role": "user", "content": [part]}])).body.messages or []
    assert [message.content for message in messages] == [[part]]


REFUSED_BELOW: dict[str, tuple[dict[str, Any], str]] = {
    "custom tool": (
        {"tools": [{"type": "custom", "custom": {}}]},
        r"tools\[0\]\.custom: not taken; tools are",
    ),
    "allowed tools": (
        {"tools": TOOLS, "tool_choice": {"type": "allowed_tools", "allowed_tools": {}}},
        r"tool_choice\.allowed_tools: not taken; give only those tools",
    ),
    "no such tool": (
        {"tools": TOOLS, "tool_choice": {"type": "function", "function": {"name": "hear"}}},
        r"tool_choice\.function\.name: 'hear' is no tool; tools: look",
    ),
    "a choice of nothing": (
        {"tool_choice": "required"},
        r"tool_choice: there is nothing to choose; give tools",
    ),
    "a choice of another word": (
        {"tools": TOOLS, "tool_choice": "all"},
        r"tool_choice: wrong; right is none,",
    ),
    "no tools": ({"tools": []}, r"tools: expected .*length >= 1"),
    "a template's program": (
        {"chat_template_kwargs": {"chat_template": "{{ 1 }}"}},
        r"chat_template_kwargs\.chat_template: not taken; it is a program",
    ),
    "the renderer's own": (
        {"chat_template_kwargs": {"return_tensors": "pt"}},
        r"chat_template_kwargs\.return_tensors: not taken; others would reach",
    ),
    "no flag": (
        {"chat_template_kwargs": {"thinking": 1}},
        r"chat_template_kwargs\.thinking: wrong; right is true",
    ),
    "an option of structures": (
        {"structured_outputs": {"regex": "a", "whitespace_pattern": " "}},
        r"structured_outputs\.whitespace_pattern: not taken; structures are compiled",
    ),
    "structural tags": (
        {"response_format": {"type": "structural_tag", "format": {}}},
        r"response_format\.format: not taken; structural tags",
    ),
    "a named tool and a structure": (
        {"tools": TOOLS, "tool_choice": "required", "structured_outputs": {"regex": "a"}},
        r"tool_choice and a structure both say how to answer",
    ),
    "top_logprobs alone": ({"top_logprobs": 2}, r"top_logprobs: needs logprobs"),
    "both ends": (
        {"continue_final_message": True},
        r"continue_final_message: .*right is add_generation_prompt",
    ),
    "fewest above most": ({"min_tokens": 5, "max_tokens": 4}, r"min_tokens: 5 is above max_tokens"),
    "a pattern too long": (
        {"repetition_detection": {"max_pattern_size": 999, "min_count": 2}},
        r"repetition_detection\.max_pattern_size: wrong; right is a whole number",
    ),
    "a function's message": (
        {"messages": [{"role": "function", "name": "f", "content": "x"}]},
        r"messages\[\d\]\.role: invalid enum value 'function'",
    ),
    "an older call": (
        {"messages": [{"role": "assistant", "function_call": {"name": "f"}}]},
        r"messages\[0\]\.function_call: not taken; give tool_calls",
    ),
}


@pytest.mark.parametrize("name", REFUSED_BELOW)
def test_it_is_refused_below_the_body(name: str) -> None:
    body, message = REFUSED_BELOW[name]
    with pytest.raises(BadRecord, match=rf"\$\.body.*{message}"):
        decoded(chat(**body))


def test_messages_are_no_input_of_an_embedding() -> None:
    message = {"role": "user", "content": "a"}
    for messages in ([message], [[message]]):
        with pytest.raises(BadRecord, match=r"\$\.body\.input\[.*got object; right is text, "):
            decoded(line_of(Task.EMBEDDING, input=messages))


def test_an_input_that_refuses_unknown_fields_says_the_nearest_name() -> None:
    for line, message in (
        (chat(max_token=5), r'\$\.body\.max_token: unknown field of a chat body; nearest is "max_tokens"'),
        ({**chat(), "costum_id": "a"}, r'\$\.costum_id: unknown field of a line; nearest is "custom_id"'),
        (chat(zzz=5), r"\$\.body\.zzz: unknown field of a chat body; this input takes known fields only"),
        (
            chat(messages=[{"role": "user", "contents": "a", "content": "a"}]),
            r'messages\[0\]\.contents: unknown field of a user message; nearest is "content"',
        ),
    ):
        with pytest.raises(BadRecord, match=message):
            DECODER.decode(as_json(line), refuse_unknown=True)
    known = DECODER.decode(as_json(chat(user="u", metadata={"run": "7"})), refuse_unknown=True)
    assert set(known.ignored) == {"$.body.user", "$.body.metadata.run"}


UNKNOWN = st.dictionaries(
    st.text("abz_ é", min_size=1, max_size=6).map("q".__add__), st.integers(), max_size=3
)


def fields_from(task: Task) -> st.SearchStrategy[dict[str, Any]]:
    """Some fields of a task's body, the refused ones left out, with what must stand beside them."""
    level = BODY_OF[task]
    names = [
        name
        for name in level.fields
        if level.fields[name].fate is not Fate.REFUSED and name not in LEAST[task]
    ]
    clash = {"tool_choice", "structured_outputs", "response_format", "continue_final_message", "min_tokens"}
    chosen = st.lists(
        st.sampled_from([name for name in names if name not in clash]), unique=True, max_size=12
    )
    return chosen.map(lambda some: _body_of(task, some))


def _body_of(task: Task, names: list[str]) -> dict[str, Any]:
    body: dict[str, Any] = {}
    for name in names:
        honoured = name in BODY_OF[task].honoured
        body |= {key: value_of(task, key) for key in BESIDE.get(name, ())}
        body[name] = value_of(task, name) if honoured else ASKING.get(name, "x")
    return body


@given(st.data(), st.sampled_from(list(Task)))
@settings(max_examples=300)
def test_nothing_that_is_said_is_dropped_in_silence(data: st.DataObject, task: Task) -> None:
    given_fields = {**LEAST[task], **data.draw(fields_from(task)), **data.draw(UNKNOWN)}
    around, inside = data.draw(UNKNOWN), data.draw(UNKNOWN)
    if task is Task.CHAT:
        role = data.draw(st.sampled_from(list(MESSAGE_OF)))
        given_fields["messages"] = [{"role": role, "content": "a", **inside}]
    line = {**line_of(task), "body": given_fields, **around}
    request = decoded(line)
    reached = msgspec.to_builtins(request.body)
    ignored = {name for name in given_fields if name not in reached}
    assert all(
        reached[name] == value
        for name, value in given_fields.items()
        if name in reached and name != "messages"
    )
    count = len(ignored) + len(around) + (len(inside) if task is Task.CHAT else 0)
    assert request.ignored_count == count
    assert len(set(request.ignored)) == min(count, 20)
