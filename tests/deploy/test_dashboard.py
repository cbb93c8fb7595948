"""The Grafana dashboard shows what exists."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from stream.metrics.names import METRICS, Metric

DEPLOY = Path(__file__).parents[2] / "deploy"
DASHBOARD = json.loads((DEPLOY / "grafana/dashboards/headrace.json").read_text(encoding="utf-8"))
PANELS: list[dict[str, Any]] = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
QUERIES = [(panel["title"], target["expr"]) for panel in PANELS for target in panel["targets"]]
TABLE: dict[str, Metric] = {str(name): metric for name, metric in METRICS.items()}


def metrics_in(query: str) -> list[str]:
    """Names as in the table: a histogram is asked by its buckets, its sum or its count."""
    names = re.findall(r"headrace_\w+", query)
    return [name if name in TABLE else re.sub(r"_(bucket|sum|count)$", "", name) for name in names]


def labels_in(query: str) -> set[str]:
    grouped = [label for group in re.findall(r"by \(([^)]*)\)", query) for label in group.split(", ")]
    selected = re.findall(r"(\w+)(?:=~|!=|=)\"", query)
    return {*grouped, *selected} - {"le"}


@pytest.mark.parametrize(("title", "query"), QUERIES)
def test_a_panel_asks_for_metrics_and_labels_of_the_table(title: str, query: str) -> None:
    names = metrics_in(query)
    assert names
    assert set(names) <= set(TABLE)
    for name in names:
        if len(set(names)) == 1:
            assert labels_in(query) <= set(TABLE[name].labels)


@pytest.mark.parametrize(("title", "query"), QUERIES)
def test_a_query_suits_the_kind_of_its_metric(title: str, query: str) -> None:
    for name in metrics_in(query):
        kind = TABLE[name].kind
        assert ("_bucket" in query) == (kind == "histogram")
        if kind == "counter" and name != "headrace_gap_records_total":
            assert re.search(rf"(rate|increase)\({name}\b", query)
        assert query.count("(") == query.count(")")


def test_legends_name_labels_that_the_query_keeps() -> None:
    for panel in PANELS:
        for target in panel["targets"]:
            grouped = ", ".join(re.findall(r"by \(([^)]*)\)", target["expr"])).split(", ")
            assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= set(grouped)


def test_every_metric_of_the_table_has_a_panel() -> None:
    assert {name for _, query in QUERIES for name in metrics_in(query)} == set(TABLE)


def test_panels_do_not_overlap_and_have_ids_of_their_own() -> None:
    spots = {(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in DASHBOARD["panels"]}
    assert len(spots) == len(DASHBOARD["panels"]) == len({panel["id"] for panel in DASHBOARD["panels"]})
    assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in PANELS)
