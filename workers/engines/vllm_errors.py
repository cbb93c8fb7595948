"""vLLM's exceptions as ours."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from vllm.exceptions import GracefulHTTPError, VLLMClientError, VLLMValidationError
from vllm.v1.engine.exceptions import EngineDeadError

from schemas.failure import ErrorClass, Stage
from workers.errors import EngineDead, EngineFull, RequestRejected, TransientEngineError, WorkersError

#: What vLLM calls the prompt in its refusals of one that is too long.
_PROMPT: Final = frozenset({"input_text", "input_tokens"})


@contextmanager
def translated() -> Iterator[None]:
    """Whatever vLLM raises for one request, as what it means for the record.

    What is not known is taken for passing: it ends as a dead letter after its attempts, and harms no neighbour.
    """
    try:
        yield
    except WorkersError:
        raise
    except EngineDeadError as error:
        raise EngineDead(str(error)) from error
    except GracefulHTTPError as error:
        raise EngineFull(f"the engine is full: {error}") from error
    except VLLMValidationError as error:
        raise _named(error) from error
    except (VLLMClientError, ValueError) as error:
        raise RequestRejected(
            ErrorClass.INVALID, Stage.VALIDATE, f"the engine refuses it: {error}"
        ) from error
    except (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic in the tokenizer's Rust is no Exception
        cause = error.__cause__ or error
        raise TransientEngineError(f"{type(cause).__name__}: {cause}") from error


def _named(error: VLLMValidationError) -> RequestRejected:
    """With the field's name, where vLLM tells it."""
    words, field = Exception.__str__(error), error.parameter
    if field in _PROMPT:
        return RequestRejected(ErrorClass.TOO_LONG, Stage.ENGINE, words)
    place = "the engine refuses it" if field is None else f"$.body.{field}"
    return RequestRejected(ErrorClass.INVALID, Stage.VALIDATE, f"{place}: {words}")
