"""The table of metrics, its page, and the code that reports them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from stream.metrics.buckets import BUCKETS_S
from stream.metrics.document import document
from stream.metrics.names import METRICS

ROOT = Path(__file__).parents[3]
PACKAGES = ("headrace", "stream", "workers", "cache", "schemas")
TABLE = (ROOT / "stream/metrics/names.py", ROOT / "stream/metrics/buckets.py")


def names_in(path: Path) -> Iterator[str]:
    """String constants of a Python file that look like the name of a metric."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and re.fullmatch(r"headrace_[a-z_]+", text):
            yield text


def names_in_code() -> set[str]:
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if path not in TABLE]
    return {name for path in files for name in names_in(path)}


def test_the_page_is_made_from_the_table() -> None:
    page = (ROOT / "docs/metrics.md").read_text(encoding="utf-8")
    assert page == document(), "run: python -m stream.metrics.document > docs/metrics.md"


def test_the_code_names_metrics_of_the_table_only() -> None:
    assert names_in_code() <= set(METRICS)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_of_the_table_is_reported_somewhere(name: str) -> None:
    assert name in names_in_code()


def test_counters_end_in_total_and_times_in_seconds_and_have_buckets() -> None:
    for name, metric in METRICS.items():
        assert name.endswith("_total") == (metric.kind == "counter")
        assert name.endswith("_seconds") == (metric.kind == "histogram")
    assert set(BUCKETS_S) == {name for name, metric in METRICS.items() if metric.kind == "histogram"}


def test_buckets_grow() -> None:
    for bounds in BUCKETS_S.values():
        assert list(bounds) == sorted(set(bounds))
