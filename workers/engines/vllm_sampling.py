"""From a request in vLLM's form to its sampling parameters, and the structure that they hold the answer to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from vllm.entrypoints.serve.utils.api_utils import get_max_tokens
from vllm.sampling_params import SamplingParams, StructuredOutputsParams

from schemas.request import Body
from workers.engines.vllm_request import Asked, too_long
from workers.structured.relax import relaxed
from workers.structured.structure import Kind, Structure, structure_in


class Sampling(NamedTuple):
    """`structure`: whole, while the parameters hold what the compiler can enforce of it."""

    params: SamplingParams
    structure: Structure | None


def sampling_of(asked: Asked, prompt_tokens: int, tokens_max: int, defaults: Mapping[str, Any]) -> Sampling:
    """Of one prompt. RequestRejected(too_long) where it leaves no room for an answer."""
    request = asked.model
    if prompt_tokens >= tokens_max:
        raise too_long(
            f"the prompt has {prompt_tokens} tokens; the model takes {tokens_max}, answer included"
        )
    answer_tokens = get_max_tokens(tokens_max, answer_bound(request), prompt_tokens, dict(defaults))
    params = request.to_sampling_params(answer_tokens, dict(defaults))
    structure = _structure(params.structured_outputs)
    if structure is not None and structure.kind is Kind.JSON:
        params.structured_outputs = replace(params.structured_outputs, json=relaxed(structure.text))
    return Sampling(params, structure)


def answer_bound(request: Any) -> int | None:
    """How long the answer may be, in tokens; None: as long as the model allows."""
    longest: int | None = getattr(request, "max_completion_tokens", None)
    return request.max_tokens if longest is None else longest


def clamped_of(body: Body, room_tokens: int) -> Mapping[str, int]:
    """The bound that was lowered to what there is room for, if it was."""
    asked = body.tokens_max
    if asked is None or asked <= room_tokens:
        return {}
    return {"max_tokens" if body.max_completion_tokens is None else "max_completion_tokens": room_tokens}


def _structure(outputs: StructuredOutputsParams | None) -> Structure | None:
    if outputs is None:
        return None
    return structure_in({kind.value: getattr(outputs, kind.value) for kind in Kind})
