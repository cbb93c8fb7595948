"""What the worker tells its metrics: added up for a whole batch first, stage times from a sample of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final

from schemas.lane import LANES
from stream.exactly_once.transaction import Transaction
from stream.exactly_once.work_item import Form, WorkItem
from stream.log.base import Aborted, Fenced, Outcome, Success, Unknown
from stream.metrics.base import Metrics
from stream.metrics.set_aside import SetAsideLevels
from stream.worker.owned_partitions import OwnedPartitions
from workers.engines.base import Tokens

ROLE: Final = "worker"
#: Records of one batch whose stage times are observed: each costs more than all the rest of the tally.
SAMPLE_MAX: Final = 4
_LANE_AND_FORM: Final = attrgetter("lane", "form")


class WorkerTally:
    """Counts transactions, their records, engine calls and tokens of one endpoint."""

    def __init__(self, metrics: Metrics, endpoint: str) -> None:
        self._metrics = metrics
        self._endpoint = endpoint
        self._partitions = SetAsideLevels(metrics, "partition")
        self._topics = SetAsideLevels(metrics, "topic")
        self._calls: dict[str, int] = {}
        self._repeats = 0
        self._restarts = 0

    def ended(self, outcome: Outcome, plan: Transaction, seconds: float) -> None:
        """A transaction, however it ended."""
        words, cause = _words(outcome)
        self._metrics.count("headrace_transactions_total", role=ROLE, outcome=words, cause=cause)
        self._metrics.observe("headrace_transaction_seconds", seconds, role=ROLE)
        if not isinstance(outcome, Success):
            return
        for book, stage in plan.stages:
            topic, partition = book.partition
            chars = len(stage.metadata)
            self._metrics.level("headrace_offset_map_chars", chars, topic=topic, partition=str(partition))
        self._count(plan.records)
        for record in plan.records[:SAMPLE_MAX]:
            self._metrics.observe("headrace_stage_seconds", seconds, stage="commit", lane=str(record.lane))

    def found_committed(self, records: Sequence[WorkItem]) -> None:
        """Of a transaction whose outcome was unknown: these are known to be committed now."""
        self._count(records)

    def _count(self, records: Sequence[WorkItem]) -> None:
        outcomes = Counter(map(_LANE_AND_FORM, records))
        for (lane, form), count in outcomes.items():
            outcome = "result" if form < Form.DEAD_LETTER else "dead_letter"
            self._metrics.count(
                "headrace_records_total", count, endpoint=self._endpoint, lane=str(lane), outcome=outcome
            )
        if all(form < Form.DEAD_LETTER for _, form in outcomes):
            return
        failures = [r.failure for r in records if r.form >= Form.DEAD_LETTER and r.failure is not None]
        for (error_class, stage), count in Counter((f.error_class, f.stage) for f in failures).items():
            labels = {"class": str(error_class), "stage": str(stage)}
            self._metrics.count("headrace_dead_letters_total", count, **labels)

    def calls_ended(self, records: Sequence[WorkItem]) -> None:
        """Engine calls that came back in one batch."""
        if not records:
            return
        ends = [record.finished for record in records if record.finished is not None]
        tokens = [end.tokens for end in ends]
        ignored = sum([end.ignored_count for end in ends])
        if ignored:
            self._metrics.count("headrace_ignored_fields_total", ignored, endpoint=self._endpoint)
        for kind, amounts in zip(Tokens._fields, zip(*tokens, strict=True), strict=False):
            self._metrics.count("headrace_tokens_total", sum(amounts), endpoint=self._endpoint, kind=kind)
        for record in records[:SAMPLE_MAX]:
            self._observe(record)

    def _observe(self, record: WorkItem) -> None:
        finished, work = record.finished, record.work
        if finished is None or work is None or not finished.attempts:
            return
        lane = str(record.lane)
        stood_ms = record.queued_ms
        for stage, begin_ms, end_ms in (
            ("queued", work.source_timestamp_ms, stood_ms),
            ("waiting", stood_ms, finished.started_ms),
            ("engine", finished.started_ms, finished.done_ms),
        ):
            seconds = max(0, end_ms - begin_ms) / 1000
            self._metrics.observe("headrace_stage_seconds", seconds, stage=stage, lane=lane)

    def engine(self, outcomes: Mapping[str, int], repeats: int, restarts: int) -> None:
        """Totals of the runner, from which the growth is counted."""
        for outcome, total in dict(outcomes).items():
            grown = total - self._calls.get(outcome, 0)
            self._calls[outcome] = total
            if grown:
                self._metrics.count(
                    "headrace_engine_calls_total", grown, endpoint=self._endpoint, outcome=outcome
                )
        if repeats > self._repeats:
            self._metrics.count(
                "headrace_engine_repeats_total", repeats - self._repeats, endpoint=self._endpoint
            )
            self._repeats = repeats
        if restarts > self._restarts:
            self._metrics.count(
                "headrace_engine_restarts_total", restarts - self._restarts, endpoint=self._endpoint
            )
            self._restarts = restarts

    def levels(self, share: OwnedPartitions, quarantined_topics: int) -> None:
        """What is so now."""
        running = Counter(record.lane for record in share.running.values())
        for lane in LANES:
            labels = {"endpoint": self._endpoint, "lane": str(lane)}
            self._metrics.level("headrace_inflight", running[lane], **labels)
            self._metrics.level("headrace_ready", len(share.ready.lanes[lane]), **labels)
        held = sum(order.finished for order in share.orders.values())
        self._metrics.level("headrace_held", held, endpoint=self._endpoint)
        self._partitions.tell([*(aside.cause for aside in share.quarantined.values()), *share.still.causes()])
        self._topics.tell(["refused"] * quarantined_topics)


def _words(outcome: Outcome) -> tuple[str, str]:
    match outcome:
        case Success():
            return "committed", ""
        case Aborted(cause=cause):
            return "aborted", cause
        case Unknown(cause=cause):
            return "unknown", cause
        case Fenced(cause=cause):
            return "fenced", cause
