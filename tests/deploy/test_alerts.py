"""The alert rules ask for what exists, reach Prometheus, and say what to do."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from stream.metrics.names import METRICS
from tests.deploy.test_dashboard import TABLE, labels_in, metrics_in

DEPLOY = Path(__file__).parents[2] / "deploy"
GROUPS = yaml.safe_load((DEPLOY / "alerts.yml").read_text(encoding="utf-8"))["groups"]
RULES: list[dict[str, Any]] = [rule for group in GROUPS for rule in group["rules"]]
NAMES = [rule["alert"] for rule in RULES]


def labels_known(query: str) -> set[str]:
    """Of the metrics that it asks for; `up` is Prometheus' own, with the labels of prometheus.yml."""
    own = {label for name in metrics_in(query) for label in TABLE[name].labels}
    return own or {"job", "role"}


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_an_alert_asks_for_metrics_and_labels_of_the_table(rule: dict[str, Any]) -> None:
    query = rule["expr"]
    assert set(metrics_in(query)) <= set(METRICS)
    assert metrics_in(query) or re.search(r"\bup\{job=\"headrace\"\}", query)
    assert labels_in(query) <= labels_known(query)
    assert query.count("(") == query.count(")")


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_an_alert_says_how_bad_it_is_and_what_to_do(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in {"page", "warning"}
    assert set(rule["annotations"]) == {"summary", "description"}
    grouped = {name for group in re.findall(r"by \(([^)]*)\)", rule["expr"]) for name in group.split(", ")}
    named = set(re.findall(r"\$labels\.(\w+)", " ".join(rule["annotations"].values())))
    assert named <= (grouped or {"instance"})


def test_alerts_have_names_of_their_own() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert all(name.startswith("Headrace") for name in NAMES)


def test_prometheus_loads_the_rules_from_where_they_are_mounted() -> None:
    loaded = yaml.safe_load((DEPLOY / "prometheus.yml").read_text(encoding="utf-8"))["rule_files"]
    services = yaml.safe_load((DEPLOY.parent / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
    mounted = dict(volume.split(":")[1::-1] for volume in services["prometheus"]["volumes"])
    assert [mounted[path] for path in loaded] == ["./deploy/alerts.yml"]
