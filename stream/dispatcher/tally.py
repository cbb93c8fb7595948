"""What the dispatcher tells its metrics, added up for a whole transaction first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter

from schemas import headers
from schemas.lane import LANES
from stream.config.settings import Settings
from stream.log.base import Aborted, Fenced, Outcome, Output, Record, Success, Unknown
from stream.metrics.base import Metrics

ROLE = "dispatcher"
_topic = attrgetter("topic")


class Tally:
    """Counts transactions and their records."""

    def __init__(self, settings: Settings, metrics: Metrics, now_ms: Callable[[], int]) -> None:
        self._metrics = metrics
        self._now_ms = now_ms
        self._dead_letters = settings.outputs.dead_letters
        self._work = {
            settings.work_topic(name, lane): (name, str(lane))
            for name in settings.endpoints
            for lane in LANES
        }

    def transaction(self, outcome: Outcome, seconds: float) -> None:
        """Its end, however it ended."""
        words, cause = _words(outcome)
        self._metrics.count("headrace_transactions_total", role=ROLE, outcome=words, cause=cause)
        self._metrics.observe("headrace_transaction_seconds", seconds, role=ROLE)

    def committed(self, records: Sequence[Record], outputs: Sequence[Output]) -> None:
        """These outputs are visible now."""
        if not outputs:
            return
        for topic, count in Counter(map(_topic, outputs)).items():
            endpoint, lane = self._work.get(topic, ("", ""))
            outcome = "routed" if endpoint else "dead_letter" if topic == self._dead_letters else "result"
            self._metrics.count(
                "headrace_records_total", count, endpoint=endpoint, lane=lane, outcome=outcome
            )
            if topic == self._dead_letters:
                self._count_dead_letters(outputs)
        self._observe_oldest(records[0], outputs[0])

    def _count_dead_letters(self, outputs: Sequence[Output]) -> None:
        found: Counter[tuple[str, str]] = Counter()
        for output in outputs:
            if output.topic == self._dead_letters:
                names = dict(output.headers)
                found[_text(names, headers.ERROR_CLASS), _text(names, headers.STAGE)] += 1
        for (error_class, stage), count in found.items():
            self._metrics.count(
                "headrace_dead_letters_total", count, **{"class": error_class, "stage": stage}
            )

    def _observe_oldest(self, record: Record, output: Output) -> None:
        """The record that waited longest stands for its transaction: one observation, not thousands."""
        _, lane = self._work.get(output.topic, ("", ""))
        waited_ms = self._now_ms() - record.timestamp()[1]
        if lane and waited_ms >= 0:
            self._metrics.observe("headrace_stage_seconds", waited_ms / 1000, stage="queued", lane=lane)


def _text(names: Mapping[str, bytes | None], name: str) -> str:
    return (names.get(name) or b"").decode()


def _words(outcome: Outcome) -> tuple[str, str]:
    match outcome:
        case Success():
            return "committed", ""
        case Aborted():
            return "aborted", outcome.cause
        case Unknown():
            return "unknown", outcome.cause
        case Fenced():
            return "fenced", outcome.cause
