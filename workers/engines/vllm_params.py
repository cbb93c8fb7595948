"""From a request to vLLM's sampling parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from vllm import SamplingParams
from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

from schemas.failure import ErrorClass, Stage
from schemas.request import Request, Task
from workers.errors import RequestRejected
from workers.structured.relax import relaxed
from workers.structured.structure import Kind, Structure

#: What OpenAI's completion endpoint generates where nothing is said, in tokens.
COMPLETION_TOKENS: Final = 16
#: Seeds travel as 64-bit integers, and the n answers of a request count up from one.
SEED_MAX: Final = 2**63 - 16
_NEUTRAL: Final = {"temperature": 1.0, "top_p": 1.0, "presence_penalty": 0.0, "frequency_penalty": 0.0}
#: vLLM's own bound: below it, the most likely token is taken.
_GREEDY_BELOW: Final = 1e-5
#: Only a model's own configuration can set these.
_FROM_MODEL: Final = ("repetition_penalty", "top_k", "min_p")


class Sampling(NamedTuple):
    """The parameters, and what had to be lowered."""

    params: SamplingParams
    clamped: Mapping[str, int]


def sampling_of(
    request: Request, structure: Structure | None, room_tokens: int, defaults: Mapping[str, Any]
) -> Sampling:
    """`room_tokens`: what the model can still generate after the prompt; `defaults`: the model's own.

    RequestRejected(invalid) where a value cannot be given to the engine.
    """
    body = request.body
    tokens, clamped = _tokens_max(request, room_tokens)
    asked = {name: getattr(body, name) for name in _NEUTRAL}
    chosen = {
        name: defaults.get(name, neutral) if asked[name] is None else asked[name]
        for name, neutral in _NEUTRAL.items()
    }
    stop = [body.stop] if isinstance(body.stop, str) else body.stop or []
    greedy = chosen["temperature"] < _GREEDY_BELOW
    params = SamplingParams(
        n=1 if greedy else body.n or 1,  # greedy answers are all the same: vLLM refuses to compute them twice
        max_tokens=tokens,
        seed=_seed(body.seed),
        stop=stop,
        detokenize=bool(stop),  # else once at the end, and not token by token
        output_kind=RequestOutputKind.FINAL_ONLY,
        structured_outputs=None if structure is None else _structured(structure),
        skip_clone=True,
        **chosen,
        **{name: defaults[name] for name in _FROM_MODEL if name in defaults},
    )
    return Sampling(params, clamped)


def _tokens_max(request: Request, room_tokens: int) -> tuple[int, dict[str, int]]:
    asked = request.body.tokens_max
    if asked is None:
        unsaid = COMPLETION_TOKENS if request.task is Task.COMPLETION else room_tokens
        return min(unsaid, room_tokens), {}
    if asked <= room_tokens:
        return asked, {}
    name = "max_tokens" if request.body.max_completion_tokens is None else "max_completion_tokens"
    return room_tokens, {name: room_tokens}


def _seed(seed: int | None) -> int | None:
    if seed is not None and abs(seed) > SEED_MAX:
        raise RequestRejected(ErrorClass.INVALID, Stage.VALIDATE, f"$.body.seed must lie within ±{SEED_MAX}")
    return seed


def _structured(structure: Structure) -> StructuredOutputsParams:
    if structure.kind is Kind.JSON_OBJECT:
        return StructuredOutputsParams(json_object=True)
    if structure.kind is Kind.CHOICE:
        return StructuredOutputsParams(choice=structure.choices)
    text = relaxed(structure.text) if structure.kind is Kind.JSON else structure.text
    return StructuredOutputsParams(**{structure.kind.value: text})
