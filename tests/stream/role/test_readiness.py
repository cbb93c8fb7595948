"""What a role tells of itself while it starts, and why it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stream.errors import LogTimeout, StreamError, TopicMismatch
from stream.metrics.server import MetricsServer, serve_metrics
from stream.process_context import ProcessContext
from stream.role.readiness import Readiness
from stream.role.report import Report, read_report
from workers.errors import EngineStartError, ModelError, WorkersError


@pytest.fixture
def server() -> Iterator[MetricsServer]:
    with closing(serve_metrics(0)) as server:
        yield server


def said(tmp_path: Path) -> Report:
    found = read_report(tmp_path, "worker-sim-00")
    assert found is not None
    return found


def test_a_phase_is_reported_until_the_next_state(tmp_path: Path, server: MetricsServer) -> None:
    saying = Readiness(ProcessContext("k:1", tmp_path, "worker-sim-00"), server)
    saying.state("starting")
    saying.phase("loading weights")
    assert (said(tmp_path).state, said(tmp_path).phase) == ("starting", "loading weights")
    assert saying.why_not_ready() == "starting: loading weights"
    saying.state("running")
    assert said(tmp_path).phase is None
    assert saying.why_not_ready() is None
    saying.state("draining")
    assert saying.why_not_ready() == "draining"


@pytest.mark.parametrize(
    ("error", "lasting"),
    [
        (ModelError("no such folder"), True),
        (TopicMismatch("topic x"), True),
        (EngineStartError("no answer"), False),
        (LogTimeout("silent"), False),
    ],
)
def test_an_end_says_whether_another_try_can_help(
    tmp_path: Path, server: MetricsServer, error: StreamError | WorkersError, lasting: bool
) -> None:
    Readiness(ProcessContext("k:1", tmp_path, "worker-sim-00"), server).ends(error)
    assert (said(tmp_path).reason, said(tmp_path).lasting) == (str(error), lasting)
