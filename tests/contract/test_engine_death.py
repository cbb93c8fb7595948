"""The end of a vLLM engine. Named to come after all tests that need it alive."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

from tests.contract.engine_stage import EngineStage, chat
from tests.walks import children_called
from workers.errors import EngineDead

pytestmark = [pytest.mark.vllm, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(800)]


@pytest.fixture(autouse=True)
def closed(vllm_stage: EngineStage) -> Iterator[None]:
    """What comes after it finds no engine."""
    yield
    vllm_stage.close()


def test_at_the_end_a_stopped_engine_makes_no_step_and_a_killed_one_is_dead(vllm_stage: EngineStage) -> None:
    core = children_called("EngineCor")[0]
    begun = vllm_stage.begin(chat(max_tokens=200, temperature=0.0))
    os.kill(core.pid, signal.SIGSTOP)
    late = vllm_stage.begin(chat())  # the first may have ended before the signal, this one cannot
    deadline = time.monotonic() + 60
    while not _makes_no_step(vllm_stage):  # steps that it had made may still be on their way to us
        assert time.monotonic() < deadline
    os.kill(core.pid, signal.SIGKILL)
    with pytest.raises(EngineDead):
        late.result(60)
    assert isinstance(begun.exception(60), EngineDead | None)
    with pytest.raises(EngineDead):
        vllm_stage.steps()


def _makes_no_step(stage: EngineStage) -> bool:
    before = stage.steps()
    time.sleep(1.0)
    return stage.steps() == before
