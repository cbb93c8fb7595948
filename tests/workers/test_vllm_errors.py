"""What vLLM raises for one request, as what it means for the record."""

from __future__ import annotations

import asyncio
import importlib.util
import os

import pytest

from schemas.failure import ErrorClass, Stage
from workers.errors import RequestRejected, TransientEngineError

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(
        importlib.util.find_spec("vllm") is None and not os.environ.get("CI"), reason="vLLM is not installed"
    ),
]


class Panic(BaseException):
    """As a library written in Rust raises it: no Exception."""


@pytest.mark.parametrize("kind", [Panic, RuntimeError])
def test_what_is_not_known_is_passing(kind: type[BaseException]) -> None:
    from workers.engines.vllm_errors import translated  # noqa: PLC0415 - imports vLLM

    with pytest.raises(TransientEngineError, match="out of bounds"), translated():
        raise kind("out of bounds")


def test_what_the_engine_refuses_is_invalid() -> None:
    from workers.engines.vllm_errors import translated  # noqa: PLC0415 - imports vLLM

    with pytest.raises(RequestRejected, match="too hot") as caught, translated():
        raise ValueError("too hot")
    failure = caught.value.failure
    assert (failure.error_class, failure.stage) == (ErrorClass.INVALID, Stage.VALIDATE)


@pytest.mark.parametrize(
    ("parameter", "error_class", "start"),
    [
        ("top_k", ErrorClass.INVALID, "$.body.top_k: bad"),
        (None, ErrorClass.INVALID, "the engine refuses it: bad"),
        ("input_text", ErrorClass.TOO_LONG, "bad"),
        ("input_tokens", ErrorClass.TOO_LONG, "bad"),
    ],
)
def test_a_field_that_vllm_refuses_is_named_and_a_prompt_beyond_the_model_is_too_long(
    parameter: str | None, error_class: ErrorClass, start: str
) -> None:
    from vllm.exceptions import VLLMValidationError  # noqa: PLC0415

    from workers.engines.vllm_errors import translated  # noqa: PLC0415 - imports vLLM

    with pytest.raises(RequestRejected) as caught, translated():
        raise VLLMValidationError("bad", parameter=parameter, value=1)
    assert caught.value.failure.error_class is error_class
    assert caught.value.failure.message == start


@pytest.mark.parametrize("kind", [asyncio.CancelledError, KeyboardInterrupt, SystemExit])
def test_an_end_that_was_asked_for_stays_one(kind: type[BaseException]) -> None:
    from workers.engines.vllm_errors import translated  # noqa: PLC0415 - imports vLLM

    with pytest.raises(kind), translated():
        raise kind
