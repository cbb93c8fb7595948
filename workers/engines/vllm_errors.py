"""vLLM's exceptions as ours."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from vllm.exceptions import GracefulHTTPError, VLLMClientError
from vllm.v1.engine.exceptions import EngineDeadError

from schemas.failure import ErrorClass, Stage
from workers.errors import EngineDead, EngineFull, RequestRejected, TransientEngineError, WorkersError


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
    except (VLLMClientError, ValueError) as error:
        raise RequestRejected(
            ErrorClass.INVALID, Stage.VALIDATE, f"the engine refuses it: {error}"
        ) from error
    except (asyncio.CancelledError, GeneratorExit, KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic in the tokenizer's Rust is no Exception
        cause = error.__cause__ or error
        raise TransientEngineError(f"{type(cause).__name__}: {cause}") from error
