"""How far a role is, by its own metrics: committed records only."""

from __future__ import annotations

import time
from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from stream.role.report import read_report

START_TIMEOUT_S = 180.0


def metrics_url(state_dir: Path, process_name: str, pid: int) -> str:
    """Wait until the process reports itself running; where its metrics are."""
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        said = read_report(state_dir, process_name)
        if said is not None and said.pid == pid and said.state == "running" and said.metrics_url:
            return said.metrics_url
        time.sleep(0.1)
    raise TimeoutError(f"{process_name} did not run within {START_TIMEOUT_S:.0f} s")


def committed_records(url: str) -> int:
    """Sum of `headrace_records_total` over all labels."""
    text = httpx.get(url, timeout=10).text
    return int(
        sum(
            sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name == "headrace_records_total"
        )
    )
