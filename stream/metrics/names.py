"""Every metric: its name, kind, labels and meaning. docs/metrics.md is made from this table."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

MetricName = Literal[
    "headrace_records_total",
    "headrace_lag_records",
    "headrace_retention_used_ratio",
    "headrace_inflight",
    "headrace_ready",
    "headrace_held",
    "headrace_hot_sessions",
    "headrace_transactions_total",
    "headrace_transaction_seconds",
    "headrace_offset_map_chars",
    "headrace_engine_calls_total",
    "headrace_engine_repeats_total",
    "headrace_engine_restarts_total",
    "headrace_tokens_total",
    "headrace_ignored_fields_total",
    "headrace_stage_seconds",
    "headrace_dead_letters_total",
    "headrace_gap_records_total",
    "headrace_quarantined",
    "headrace_restarts_total",
]


class Metric(NamedTuple):
    """One row of the table."""

    kind: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...]
    meaning: str


METRICS: dict[MetricName, Metric] = {
    "headrace_records_total": Metric(
        "counter",
        ("endpoint", "lane", "outcome"),
        "Records finished and committed. outcome: routed (dispatcher), result, dead_letter.",
    ),
    "headrace_lag_records": Metric(
        "gauge",
        ("topic", "partition"),
        "Offsets of the partition that are not yet done and committed; a transaction's marker is one too.",
    ),
    "headrace_retention_used_ratio": Metric(
        "gauge",
        ("topic", "partition"),
        "Inputs: age of the oldest record that is not committed over the topic's retention.ms; above 0.5 is an alarm, "
        "at 1 it may be deleted unread. 0 where nothing waits or retention.ms is off (retention.bytes is not looked "
        "at); absent where the setting may not be read. Where the oldest is not read yet: the age of the last one "
        "known, else the time since something was first seen waiting (a partition set aside).",
    ),
    "headrace_inflight": Metric("gauge", ("endpoint", "lane"), "Requests inside the engine now."),
    "headrace_ready": Metric(
        "gauge", ("endpoint", "lane"), "Finished answers that wait for their transaction."
    ),
    "headrace_held": Metric(
        "gauge", ("endpoint",), "Finished answers that wait for an older one of their session."
    ),
    "headrace_hot_sessions": Metric(
        "gauge",
        ("endpoint",),
        "Sessions whose unfinished records fill more than half of a work partition's bound (open_records_max); the "
        "log names each by its hash.",
    ),
    "headrace_transactions_total": Metric(
        "counter",
        ("role", "outcome", "cause"),
        "Transactions. outcome: committed, aborted, unknown, fenced; cause is empty for committed.",
    ),
    "headrace_transaction_seconds": Metric("histogram", ("role",), "From begin to the end of the commit."),
    "headrace_offset_map_chars": Metric(
        "gauge", ("topic", "partition"), "Length of the last committed offset map (limit 4095)."
    ),
    "headrace_engine_calls_total": Metric(
        "counter",
        ("endpoint", "outcome"),
        "Engine calls. outcome: answered, failed, retried, rejected, cancelled.",
    ),
    "headrace_engine_repeats_total": Metric(
        "counter",
        ("endpoint",),
        "Engine calls for a record that an earlier process of this slot had already started.",
    ),
    "headrace_engine_restarts_total": Metric(
        "counter",
        ("endpoint",),
        "Times that a worker brought its dead or hanging engine back. The calls it held run again.",
    ),
    "headrace_tokens_total": Metric("counter", ("endpoint", "kind"), "Tokens. kind: input, output, cached."),
    "headrace_ignored_fields_total": Metric(
        "counter",
        ("endpoint",),
        "Fields of requests that had no effect; each result names its own under headrace.ignored.",
    ),
    "headrace_stage_seconds": Metric(
        "histogram",
        ("stage", "lane"),
        "Time of a stage: queued (input timestamp to dispatch), waiting (work topic to engine), "
        "engine, commit. A sample, so that its count is no count of records: a worker observes the first 4 records of "
        "each batch that comes back from the engine (queued, waiting, engine) and of each transaction (commit), a "
        "dispatcher the oldest of each transaction (queued).",
    ),
    "headrace_dead_letters_total": Metric("counter", ("class", "stage"), "Dead letters committed."),
    "headrace_gap_records_total": Metric(
        "counter",
        ("topic",),
        "Offsets below the log start that were never read: retention was faster than us.",
    ),
    "headrace_quarantined": Metric(
        "gauge",
        ("kind", "cause"),
        "Things set aside for an operator. kind: partition (cause: map, topic, newer_version, or what the Kafka client "
        "says of a batch that it cannot read: bad_compression, bad_msg, not_implemented), topic (a reply topic).",
    ),
    "headrace_restarts_total": Metric("counter", ("role",), "Restarts by the supervisor."),
}

assert set(METRICS) == set(get_args(MetricName))
