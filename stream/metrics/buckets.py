"""Where the histograms cut, in seconds."""

from __future__ import annotations

from typing import Final

from stream.metrics.names import MetricName

MINUTE: Final = 60.0
HOUR: Final = 60 * MINUTE

#: A transaction takes 5-20 ms when all is well, 15 s when the broker's timeout ends it.
TRANSACTION_S: Final = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.5, 1.0, 2.0, 5.0, 15.0, 30.0)
#: A stage takes a millisecond (an idle lane) or hours (a batch that waits its turn).
STAGE_S: Final = (
    0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.15, 0.3, 0.6, 1.0, 2.5, 5.0, 10.0, 30.0,
    MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, 24 * HOUR,
)  # fmt: skip

BUCKETS_S: Final[dict[MetricName, tuple[float, ...]]] = {
    "headrace_transaction_seconds": TRANSACTION_S,
    "headrace_stage_seconds": STAGE_S,
}
