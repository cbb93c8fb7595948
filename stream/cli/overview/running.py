"""Requests inside the engines now, as the workers of this machine serve it to Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import httpx
from prometheus_client.parser import text_string_to_metric_families

from schemas.lane import Lane
from stream.cli.overview.lanes import Key
from stream.metrics.names import MetricName

FETCH_S: Final = 2.0
INFLIGHT: Final[MetricName] = "headrace_inflight"


def running_now(runtime: Mapping[str, Any]) -> Mapping[Key, int]:
    """Over all processes of runtime.json; one that does not answer runs nothing that can be told."""
    running: Counter[Key] = Counter()
    with httpx.Client(timeout=FETCH_S) as client:
        for url in runtime.get("metrics_urls", {}).values():
            running.update(_inflight(_fetch(client, url)))
    return running


def _fetch(client: httpx.Client, url: str) -> str:
    try:
        return client.get(url).text
    except httpx.HTTPError:
        # It is starting, or has just died: its state says so.
        return ""


def _inflight(text: str) -> dict[Key, int]:
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {
        Key(sample.labels["endpoint"], Lane(sample.labels["lane"])): int(sample.value)
        for sample in samples
        if sample.name == INFLIGHT
    }
