"""From a request to the token ids of its prompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from schemas.failure import ErrorClass, Stage
from schemas.request import Body, Message, Request, Task
from workers.errors import RequestRejected


class Prompter:
    """Renders prompts with a model's tokenizer and chat template, and refuses those that the model cannot take."""

    def __init__(self, tokenizer: Any, tokens_max: int, vocabulary: int) -> None:
        """`tokens_max`: prompt and answer together; `vocabulary`: token ids below it exist."""
        self._tokenizer = tokenizer
        self._tokens_max = tokens_max
        self._vocabulary = vocabulary

    def prompt_of(self, request: Request) -> list[int]:
        """Token ids, at least one. RequestRejected: `too_long`, or `invalid` where it cannot be rendered."""
        if request.task is Task.CHAT:
            return self._checked(self._chat(request.body.messages or []), answer_tokens=1)
        return self._checked(self._tokens(request.body.prompt), answer_tokens=1)

    def inputs_of(self, body: Body) -> list[list[int]]:
        """The inputs of an embedding request, each as token ids."""
        given = body.input
        single = isinstance(given, str) or (
            isinstance(given, list) and (not given or isinstance(given[0], int))
        )
        inputs: Sequence[Any] = [given] if single else given or []
        return [self._checked(self._tokens(item), answer_tokens=0) for item in inputs]

    def room_tokens(self, prompt: Sequence[int]) -> int:
        """What the model can generate after `prompt`."""
        return self._tokens_max - len(prompt)

    def text_of(self, tokens: Sequence[int]) -> str:
        text: str = self._tokenizer.decode(tokens, skip_special_tokens=True)
        return text

    def _chat(self, messages: Sequence[Message]) -> list[int]:
        turns = [_turn(message) for message in messages]
        try:
            text = self._tokenizer.apply_chat_template(turns, add_generation_prompt=True, tokenize=False)
        except Exception as error:  # a template is a program of the model's: it may refuse in any way
            raise _invalid(f"$.body.messages: the model's chat template refuses them: {error}") from error
        tokens: list[int] = self._tokenizer.encode(text, add_special_tokens=False)
        return tokens

    def _tokens(self, prompt: Any) -> list[int]:
        if isinstance(prompt, list):
            if not all(isinstance(token, int) and 0 <= token < self._vocabulary for token in prompt):
                raise _invalid(f"a prompt of token ids has other members than 0..{self._vocabulary - 1}")
            return prompt
        tokens: list[int] = self._tokenizer.encode(prompt or "")
        if not tokens and self._tokenizer.bos_token_id is not None:
            return [self._tokenizer.bos_token_id]  # an empty prompt: the model begins freely
        return tokens

    def _checked(self, tokens: list[int], *, answer_tokens: int) -> list[int]:
        if not tokens:
            raise _invalid("the prompt has no token")
        if len(tokens) + answer_tokens > self._tokens_max:
            text = f"the prompt has {len(tokens)} tokens; the model takes {self._tokens_max}, answer included"
            raise RequestRejected(ErrorClass.TOO_LONG, Stage.ENGINE, text)
        return tokens


def chars_of(body: Body) -> int:
    """How long its texts are, in characters; of token ids, how many there are."""
    contents = [message.content or "" for message in body.messages or []]
    return sum(_length(given) for given in (*contents, body.prompt or "", body.input or ""))


def _length(given: str | Sequence[Any]) -> int:
    if isinstance(given, str):
        return len(given)
    texts = [item.get("text") if isinstance(item, dict) else item for item in given]
    return sum(len(text) if isinstance(text, str) else 1 for text in texts)


def _turn(message: Message) -> dict[str, Any]:
    turn: dict[str, Any] = {"role": message.role, "content": _text(message)}
    for name in ("name", "tool_calls", "tool_call_id"):
        if (value := getattr(message, name)) is not None:
            turn[name] = value
    return turn


def _text(message: Message) -> str:
    if message.content is None or isinstance(message.content, str):
        return message.content or ""
    return "".join(_part(part) for part in message.content)


def _part(part: Any) -> str:
    text = part.get("text")
    if part.get("type") != "text" or not isinstance(text, str):
        raise _invalid(f"$.body.messages: content of type {part.get('type')!r}; this endpoint takes text")
    return text


def _invalid(message: str) -> RequestRejected:
    return RequestRejected(ErrorClass.INVALID, Stage.VALIDATE, message)
