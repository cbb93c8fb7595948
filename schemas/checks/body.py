"""What the fields of one body say together."""

from __future__ import annotations

from typing import Final

from schemas.bodies import ChatBody, CompletionBody, GenerationBody
from schemas.checks.lists import check_list
from schemas.checks.messages import check_messages
from schemas.checks.objects import check_kwargs, check_repetition
from schemas.checks.structures import sift_structures
from schemas.checks.tools import check_choice, check_tools
from schemas.errors import BadRecord
from schemas.fields.ignored import Ignored, path_of
from schemas.fields.structures import METADATA
from schemas.limits import INPUT_TEXTS_MAX, PROMPTS_MAX
from schemas.request import Body
from schemas.structure import structure_of
from schemas.task import Task

_FREE_CHOICES: Final = (None, "none", "auto")
#: A member of an enumeration is slow to reach through its class.
_CHAT, _COMPLETION = Task.CHAT, Task.COMPLETION


def check_body(task: Task, body: Body, found: Ignored) -> None:
    """BadRecord (`invalid`) where they do not go together; in lists and objects, what has no effect is taken out."""
    if task is _CHAT:
        _check_chat(body, found)
    elif task is _COMPLETION:
        _check_completion(body, found)
    else:
        _check_embedding(body)
    if body.response_format is not None or body.structured_outputs is not None:
        sift_structures(body, found)
        structure = structure_of(body)
        if structure is not None and isinstance(body, ChatBody) and body.tool_choice not in _FREE_CHOICES:
            raise BadRecord.invalid("$.body: tool_choice and a structure both say how to answer; give one")
    if body.metadata is not None:
        for name in body.metadata:
            if name not in METADATA.honoured:
                found.add(path_of("$.body.metadata", name))


def _check_chat(body: Body, found: Ignored) -> None:
    if body.messages is None:
        raise BadRecord.invalid("$.body.messages: missing; a chat needs a list of one or more messages")
    check_messages(body.messages, found)
    if isinstance(body, ChatBody):
        _check_generation(body, found)
        _check_whole_chat(body, found)


def _check_whole_chat(body: ChatBody, found: Ignored) -> None:
    if body.top_logprobs and not body.logprobs:
        raise BadRecord.invalid("$.body.top_logprobs: needs logprobs; right is logprobs: true beside it")
    if body.logprob_token_ids and not body.logprobs:
        raise BadRecord.invalid("$.body.logprob_token_ids: needs logprobs; right is logprobs: true beside it")
    if body.continue_final_message and body.add_generation_prompt is not False:
        raise BadRecord.invalid(
            "$.body.continue_final_message: the last message cannot go on and a new one begin; "
            "right is add_generation_prompt: false beside it"
        )
    if body.tools is not None:
        check_tools(body.tools, "$.body.tools", found)
    if body.tool_choice is not None:
        check_choice(body.tool_choice, body.tools, found)
    if body.chat_template_kwargs is not None:
        check_kwargs(body.chat_template_kwargs, found)


def _check_completion(body: Body, found: Ignored) -> None:
    if body.prompt is None:
        raise BadRecord.invalid("$.body.prompt: missing; a completion needs text or a list of token ids")
    if isinstance(body.prompt, list):
        check_list("$.body.prompt", body.prompt, PROMPTS_MAX)
    if isinstance(body, CompletionBody):
        _check_generation(body, found)
        if body.logprob_token_ids and body.logprobs is None:
            raise BadRecord.invalid(
                "$.body.logprob_token_ids: needs logprobs; right is logprobs: 0 beside it"
            )


def _check_generation(body: GenerationBody, found: Ignored) -> None:
    tokens_max = body.tokens_max
    if body.min_tokens is not None and tokens_max is not None and body.min_tokens > tokens_max:
        raise BadRecord.invalid(
            f"$.body.min_tokens: {body.min_tokens} is above max_tokens; right is at most {tokens_max}"
        )
    if body.repetition_detection is not None:
        check_repetition(body.repetition_detection, found)


def _check_embedding(body: Body) -> None:
    if body.input is None:
        raise BadRecord.invalid("$.body.input: missing; an embedding needs text, texts or token ids")
    if isinstance(body.input, list):
        check_list("$.body.input", body.input, INPUT_TEXTS_MAX)
