"""From requests to token ids, with a tokenizer of one token per character."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.failure import ErrorClass, Stage
from schemas.request import Body, Message, Request, Task
from workers.engines.vllm_prompt import Prompter, chars_of
from workers.errors import RequestRejected

INVALID = (ErrorClass.INVALID, Stage.VALIDATE)
TOO_LONG = (ErrorClass.TOO_LONG, Stage.ENGINE)


class Characters:
    bos_token_id: int | None = 0

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [ord(character) for character in text]

    def apply_chat_template(self, messages: list[dict[str, Any]], **_options: Any) -> str:
        if messages[0]["role"] == "tool":
            raise ValueError("no tools here")
        return "|".join(f"{message['role'][0]}:{message['content']}" for message in messages)


def prompter(tokens_max: int = 50) -> Prompter:
    return Prompter(Characters(), tokens_max, 256)


def chat(*messages: Message) -> Request:
    return Request(Task.CHAT, Body(model="m", messages=list(messages)))


def completion(prompt: str | list[int]) -> Request:
    return Request(Task.COMPLETION, Body(model="m", prompt=prompt))


def text(tokens: list[int]) -> str:
    return "".join(map(chr, tokens))


def refused(request: Request, tokens_max: int = 50) -> tuple[ErrorClass, Stage]:
    with pytest.raises(RequestRejected) as caught:
        prompter(tokens_max).prompt_of(request)
    return caught.value.failure.error_class, caught.value.failure.stage


def test_messages_go_through_the_models_template() -> None:
    parts: list[dict[str, Any]] = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    request = chat(Message("system", "be"), Message("user", parts), Message("assistant"))
    assert text(prompter().prompt_of(request)) == "s:be|u:ab|a:"


def test_what_the_template_refuses_is_invalid() -> None:
    assert refused(chat(Message("tool", "x"))) == INVALID


def test_content_that_is_not_text_is_invalid() -> None:
    assert refused(chat(Message("user", [{"type": "image_url", "image_url": {}}]))) == INVALID


def test_token_ids_are_taken_as_they_are_and_unknown_ones_are_invalid() -> None:
    assert prompter().prompt_of(completion([1, 2])) == [1, 2]
    for wrong in ([256], [-1], []):
        assert refused(completion(wrong)) == INVALID


def test_an_empty_prompt_begins_with_the_models_first_token_where_it_has_one() -> None:
    assert prompter().prompt_of(completion("")) == [0]


def test_a_prompt_must_leave_room_for_one_token() -> None:
    assert len(prompter(10).prompt_of(completion("123456789"))) == 9
    assert refused(completion("1234567890"), tokens_max=10) == TOO_LONG
    assert prompter(10).room_tokens([1, 2, 3]) == 7


def test_an_embedding_input_may_fill_the_model() -> None:
    inputs = prompter(10).inputs_of
    assert inputs(Body(model="m", input="1234567890")) == [[ord(one) for one in "1234567890"]]
    assert len(inputs(Body(model="m", input=["a", "b"]))) == 2
    assert inputs(Body(model="m", input=[1, 2])) == [[1, 2]]
    with pytest.raises(RequestRejected):
        inputs(Body(model="m", input=["12345678901"]))


@pytest.mark.parametrize(
    ("body", "chars"),
    [
        (Body(model="m", messages=[Message("user", "four"), Message("user", None)]), 4),
        (Body(model="m", messages=[Message("user", [{"type": "text", "text": "four"}, {"type": "x"}])]), 5),
        (Body(model="m", prompt="four"), 4),
        (Body(model="m", prompt=[1, 2, 3]), 3),
        (Body(model="m", input=["one", "four"]), 7),
        (Body(model="m"), 0),
    ],
)
def test_how_long_the_texts_of_a_request_are(body: Body, chars: int) -> None:
    assert chars_of(body) == chars
