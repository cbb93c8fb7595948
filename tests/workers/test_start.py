"""What is told of an engine's start, and whether a start that failed is worth another try."""

from __future__ import annotations

import logging

import pytest

from workers.engines.phases import vllm_phases
from workers.engines.start_error import start_error
from workers.errors import EngineRefused, EngineStartError


class OutOfMemoryError(RuntimeError):
    """As torch calls its own."""


@pytest.mark.parametrize(
    "error",
    [
        ValueError("No available memory for the cache blocks"),
        TypeError("unexpected keyword"),
        OutOfMemoryError("CUDA out of memory"),
        MemoryError(),
    ],
)
def test_what_the_next_start_would_meet_again_is_refused(error: Exception) -> None:
    assert isinstance(start_error("m", error), EngineRefused)


@pytest.mark.parametrize("error", [RuntimeError("core failed"), OSError("connection reset"), TimeoutError()])
def test_what_may_pass_is_worth_another_try(error: Exception) -> None:
    found = start_error("m", error)
    assert type(found) is EngineStartError
    assert str(found).startswith(f"endpoint m: {type(error).__name__}: ")


def test_lines_of_vllms_log_become_phases_and_its_level_comes_back() -> None:
    vllm = logging.getLogger("vllm")
    before, told = vllm.level, list[str]()
    with vllm_phases(told.append):
        for line in (
            "Starting to load model %s...",
            "Loading weights took %s seconds",
            "Chunked prefill: %s",
        ):
            logging.getLogger("vllm.worker").info(line, 3)
    logging.getLogger("vllm.worker").info("Warming up model")
    assert told == ["loading weights", "preparing memory"]
    assert vllm.level == before
