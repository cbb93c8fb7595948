"""Writes docs/metrics.md from the table of metrics: `python -m stream.metrics.document > docs/metrics.md`."""

from __future__ import annotations

import sys

from stream.metrics.buckets import BUCKETS_S
from stream.metrics.names import METRICS, Metric, MetricName

_HEAD = """\
# Metrics

Made from `stream/metrics/names.py` by `python -m stream.metrics.document > docs/metrics.md`; a test keeps
it current.

Every role serves its own at `/metrics`. `runtime.json` in the state directory names the urls (`metrics_urls`,
by process name). With `[metrics] port = 0` (the default) each role takes a free port of the loopback
interface. A port of your own is for a Prometheus on another machine: it is served on all interfaces, and
further roles of the same machine take the next free ports.

| name | kind | labels | meaning |
| --- | --- | --- | --- |
"""


def document() -> str:
    """The whole page, in Markdown."""
    rows = "".join(_row(name, metric) for name, metric in sorted(METRICS.items()))
    return _HEAD + rows + "\n## Buckets\n\n" + "".join(_buckets(name) for name in sorted(BUCKETS_S))


def _row(name: MetricName, metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels) or "-"
    return f"| `{name}` | {metric.kind} | {labels} | {metric.meaning} |\n"


def _buckets(name: MetricName) -> str:
    return f"- `{name}`, in seconds: {', '.join(f'{bound:g}' for bound in BUCKETS_S[name])}\n"


if __name__ == "__main__":
    sys.stdout.write(document())
