"""From a request to vLLM's own request model, which its front end validates, renders and samples by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import msgspec
import pydantic
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.entrypoints.openai.completion.protocol import CompletionRequest
from vllm.entrypoints.pooling.embed.protocol import EmbeddingCompletionRequest

from schemas.failure import ErrorClass, Stage
from schemas.request import Request, Task
from workers.errors import RequestRejected

_MODELS: Final = {
    Task.CHAT: ChatCompletionRequest,
    Task.COMPLETION: CompletionRequest,
    Task.EMBEDDING: EmbeddingCompletionRequest,
}
_ANSWER_BOUNDS: Final = ("max_completion_tokens", "max_tokens")
#: Read by the service and not by an engine.
_OURS: Final = ("metadata", "prompt_cache_key", "service_tier")
#: vLLM wants a name for a schema, and does nothing with it.
_NAMELESS: Final = "answer"
#: Seeds travel as 64-bit integers, and the n answers of a request count up from one.
SEED_MAX: Final = 2**63 - 16
#: vLLM's own bound: below it, the most likely token is taken.
_GREEDY_BELOW: Final = 1e-5


class Asked(NamedTuple):
    """A request in vLLM's form."""

    model: Any
    #: Characters of its texts, and tokens of its token ids: how long it takes to render.
    weight: int
    #: How many equal answers are given for the one that is computed: greedy ones do not differ, and vLLM refuses to
    #: compute them more than once.
    copies: int


def asked_of(request: Request, tokens_max: int, defaults: Mapping[str, Any]) -> Asked:
    """`tokens_max`: what the model takes, prompt and answer; `defaults`: the model's own sampling.

    RequestRejected names the field that vLLM refuses.
    """
    fields = fields_of(request)
    for name in _ANSWER_BOUNDS:  # what is above the model's room is lowered, and vLLM would refuse it
        if (asked := fields.get(name)) is not None:
            fields[name] = min(asked, tokens_max)
    for name in ("prompt", "input"):
        _check_length(name, fields.get(name), tokens_max)
    if abs(fields.get("seed", 0)) > SEED_MAX:
        raise invalid(f"$.body.seed must lie within ±{SEED_MAX}")
    copies = _copies(fields, defaults)
    if copies > 1:
        fields["n"] = 1
    weight = weight_of(fields)
    try:
        return Asked(_MODELS[request.task].model_validate(fields), weight, copies)
    except pydantic.ValidationError as error:
        raise invalid(_words(error)) from error


def fields_of(request: Request) -> dict[str, Any]:
    """What was said, in the words of vLLM's models; what was left out is not there."""
    fields: dict[str, Any] = msgspec.to_builtins(request.body)
    for name in _OURS:
        fields.pop(name, None)
    if request.task is Task.COMPLETION and "max_completion_tokens" in fields:
        fields["max_tokens"] = fields.pop("max_completion_tokens")
    schema = fields.get("response_format", {}).get("json_schema")
    if isinstance(schema, dict):
        schema.setdefault("name", _NAMELESS)
    return fields


def weight_of(value: Any) -> int:
    """Characters and numbers in it, however deep."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(weight_of, value.values()))
    if isinstance(value, list):
        if value and isinstance(value[0], int):
            return len(value)
        return sum(map(weight_of, value))
    return 1


def invalid(message: str) -> RequestRejected:
    """Whatever is wrong with a request: a dead letter, no retry."""
    return RequestRejected(ErrorClass.INVALID, Stage.VALIDATE, message)


def too_long(message: str) -> RequestRejected:
    return RequestRejected(ErrorClass.TOO_LONG, Stage.ENGINE, message)


def _check_length(name: str, given: Any, tokens_max: int) -> None:
    """Token ids are counted before anything is done with them: there may be millions."""
    if not isinstance(given, list) or not given:
        return
    for ids in [given] if isinstance(given[0], int) else given:
        if isinstance(ids, list) and len(ids) > tokens_max:
            raise too_long(f"$.body.{name}: {len(ids)} token ids; the model takes {tokens_max}")


def _copies(fields: Mapping[str, Any], defaults: Mapping[str, Any]) -> int:
    temperature = fields.get("temperature", defaults.get("temperature", 1.0))
    count: int = fields.get("n", 1)
    return count if temperature < _GREEDY_BELOW else 1


def _words(error: pydantic.ValidationError) -> str:
    """The first finding: where, and why. Names of unions and models in its place are vLLM's own, and left out."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = "$.body"
    for step in first["loc"]:
        if isinstance(step, int):
            where += f"[{step}]"
        elif step.islower() and step.isidentifier():
            where += f".{step}"
    return f"{where}: {first['msg']}"
