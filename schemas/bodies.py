"""The body of each task with every field that is honoured, for requests that have more than the usual ones.

Fields that are not here are passed over: what becomes of them is judged by `schemas.fields`. Those of other tasks are
of any type here, and are taken out by the checks.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from msgspec import Meta

from schemas.limits import (
    BAD_WORDS_MAX,
    DIMENSIONS_MAX,
    DOCUMENTS_MAX,
    INPUT_TOKENS_MAX,
    LOGIT_BIASES_MAX,
    LOGPROB_TOKENS_MAX,
    LOGPROBS_MAX,
    TOKENS_MAX,
    TOOLS_MAX,
)
from schemas.request import Body, Line, Message, TokenId
from schemas.task import Task

Logprobs = Annotated[int, Meta(ge=0, le=LOGPROBS_MAX)]
Word = Annotated[str, Meta(min_length=1)]
TokenKey = Annotated[str, Meta(pattern="^[0-9]{1,10}$")]
Bias = Annotated[float, Meta(ge=-100, le=100)]
Tools = Annotated[list[dict[str, Any]], Meta(min_length=1, max_length=TOOLS_MAX)]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
#: -1: the model's own bound.
Truncation = Annotated[int, Meta(ge=-1, le=TOKENS_MAX)]
Side = Literal["left", "right"]


class WholeMessage(Message, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=False):
    """A message with every field that some role may hold."""

    reasoning: str | None = None
    #: The older name of `reasoning`.
    reasoning_content: str | None = None
    #: What a developer's message brings.
    tools: Tools | None = None
    #: A mark that some chat templates read.
    task: str | None = None


class GenerationBody(Body, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=False):
    """What chats and completions share."""

    min_tokens: Annotated[int, Meta(ge=0, le=TOKENS_MAX)] | None = None
    #: 0 and -1: all tokens.
    top_k: Annotated[int, Meta(ge=-1, le=TOKENS_MAX)] | None = None
    min_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    repetition_penalty: Annotated[float, Meta(gt=0)] | None = None
    repetition_detection: dict[str, Any] | None = None
    logit_bias: Annotated[dict[TokenKey, Bias], Meta(max_length=LOGIT_BIASES_MAX)] | None = None
    allowed_token_ids: Annotated[list[TokenId], Meta(min_length=1, max_length=INPUT_TOKENS_MAX)] | None = None
    bad_words: Annotated[list[Word], Meta(max_length=BAD_WORDS_MAX)] | None = None
    stop_token_ids: Annotated[list[TokenId], Meta(max_length=BAD_WORDS_MAX)] | None = None
    include_stop_str_in_output: bool | None = None
    ignore_eos: bool | None = None
    skip_special_tokens: bool | None = None
    spaces_between_special_tokens: bool | None = None
    truncate_prompt_tokens: Truncation | None = None
    truncation_side: Side | None = None
    add_special_tokens: bool | None = None
    echo: bool | None = None
    #: -1: no bound.
    thinking_token_budget: Annotated[int, Meta(ge=-1, le=TOKENS_MAX)] | None = None
    prompt_logprobs: Logprobs | None = None
    logprob_token_ids: Annotated[list[TokenId], Meta(max_length=LOGPROB_TOKENS_MAX)] | None = None
    return_token_ids: bool | None = None
    return_tokens_as_token_ids: bool | None = None


class ChatBody(GenerationBody, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=False):
    """A chat."""

    messages: Annotated[list[WholeMessage], Meta(min_length=1)] | None = None  # type: ignore[assignment]
    prompt: Any = None
    input: Any = None
    logprobs: bool | None = None
    top_logprobs: Logprobs | None = None
    tools: Tools | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    reasoning_effort: Effort | None = None
    include_reasoning: bool | None = None
    documents: Annotated[list[dict[str, str]], Meta(max_length=DOCUMENTS_MAX)] | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    add_generation_prompt: bool | None = None
    continue_final_message: bool | None = None
    return_prompt_text: bool | None = None


class CompletionBody(GenerationBody, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=False):
    """A completion."""

    messages: Any = None
    input: Any = None
    logprobs: Logprobs | None = None


class EmbeddingBody(Body, frozen=True, gc=False, omit_defaults=True, forbid_unknown_fields=False):
    """An embedding."""

    messages: Any = None
    prompt: Any = None
    max_tokens: Any = None
    max_completion_tokens: Any = None
    temperature: Any = None
    top_p: Any = None
    n: Any = None
    stop: Any = None
    seed: Any = None
    presence_penalty: Any = None
    frequency_penalty: Any = None
    response_format: Any = None
    structured_outputs: Any = None
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: Annotated[int, Meta(ge=1, le=DIMENSIONS_MAX)] | None = None
    embed_dtype: Literal["float32", "float16", "bfloat16", "fp8_e4m3", "fp8_e5m2"] | None = None
    endianness: Literal["native", "big", "little"] | None = None
    use_activation: bool | None = None
    truncate_prompt_tokens: Truncation | None = None
    truncation_side: Side | None = None
    padding: Literal["max_length", "do_not_pad"] | None = None
    add_special_tokens: bool | None = None


class ChatLine(Line, frozen=True, gc=False, forbid_unknown_fields=False):
    """A line of a chat."""

    body: ChatBody
    url: str


class CompletionLine(Line, frozen=True, gc=False, forbid_unknown_fields=False):
    """A line of a completion."""

    body: CompletionBody
    url: str


class EmbeddingLine(Line, frozen=True, gc=False, forbid_unknown_fields=False):
    """A line of an embedding."""

    body: EmbeddingBody
    url: str


LINE_OF: Final[dict[Task, type[Line]]] = {
    Task.CHAT: ChatLine,
    Task.COMPLETION: CompletionLine,
    Task.EMBEDDING: EmbeddingLine,
}
