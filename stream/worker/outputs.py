"""What a record leaves behind: a result or a dead letter, and one usage record, always in the same transaction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from schemas.answered import write_answered
from schemas.custom_id import custom_id_in
from schemas.dead_letter import write_dead_letter
from schemas.failure import ErrorClass, Failure, Stage
from schemas.headers import Headers
from schemas.result import Facts, error_value, result_headers
from schemas.usage import usage_headers, usage_key, usage_value
from stream.exactly_once.reply_topics import ReplyTopics
from stream.exactly_once.work_item import OWN, Form, WorkItem
from stream.log.base import Output
from stream.worker.result_facts import facts_of, letter_of, source_timestamp_ms
from workers.engines.base import Answer, Tokens

#: Key, headers and framing of one output, about: values are counted exactly.
OVERHEAD_BYTES: Final = 256
#: A dead letter that its topic refused is written again with at most so much of the original.
BARE_BYTES_MAX: Final = 16 * 1024
#: The hot path makes two of them a record: at half the cost of the class's own call.
_output: Final = tuple.__new__


@dataclass(frozen=True, slots=True)
class Destinations:
    """Where a worker's outputs go, and who says so."""

    results: str
    dead_letters: str
    usage: str
    group: str
    dead_letter_bytes_max: int


class OutputWriter:
    """Writes and rewrites the outputs of records. `now_ms` is the wall clock, `now_s` the monotonic one."""

    def __init__(
        self,
        to: Destinations,
        targets: ReplyTopics,
        now_ms: Callable[[], int],
        now_s: Callable[[], float],
    ) -> None:
        self._to = to
        self._targets = targets
        self._now_ms = now_ms
        self._now_s = now_s

    def write(self, record: WorkItem) -> None:
        """Outputs of a record that has `finished`, or has a `failure` that came before any call."""
        if record.failure is None:
            work = record.work
            if work is None or work.reply_to is None or (refusal := self._refusal(*work.reply_to)) is None:
                self._answer(record)
                return
            record.failure = refusal
        self._put(record, Form.ERROR_RESULT if self._may_tell(record) else Form.DEAD_LETTER)

    def give_up(self, record: WorkItem, failure: Failure) -> bool:
        """Rewrite in the next smaller form, for `failure`; False where there is none."""
        if record.form is Form.BARE_DEAD_LETTER:
            return False
        if record.form is Form.DEAD_LETTER:
            self._put(record, Form.BARE_DEAD_LETTER)
            return True
        first = record.form is Form.ANSWER
        record.failure = failure if first or record.failure is None else record.failure
        may_tell = first and record.work is not None and record.work.errors == "result"
        self._put(record, Form.ERROR_RESULT if may_tell else Form.DEAD_LETTER)
        return True

    def _may_tell(self, record: WorkItem) -> bool:
        """Its error may go where its answer was asked for."""
        work = record.work
        if work is None or work.errors != "result":
            return False
        return work.reply_to is None or self._refusal(*work.reply_to) is None

    def _refusal(self, topic: str, partition: int | None) -> Failure | None:
        """Why an answer cannot go where it was asked for, as far as is known now."""
        refusal: str | None
        if topic == self._to.results:
            count = self._targets.partitions_of.get(topic, 0)
            bad = partition is not None and partition >= count > 0
            refusal = f"{topic} has {count} partitions, no partition {partition}" if bad else None
        else:
            refusal = self._targets.refusal(topic, -1 if partition is None else partition, self._now_s())
        return None if refusal is None else Failure(ErrorClass.UNWRITABLE, Stage.PUBLISH, refusal)

    def _answer(self, record: WorkItem) -> None:
        """The way of nearly every record: result and usage written together."""
        work, finished = record.work, record.finished
        assert work is not None, "only a readable work record is answered"
        assert finished is not None, "only a call that ended is answered"
        answer, tokens = finished.outcome, finished.tokens
        assert isinstance(answer, Answer), "a record without a failure has an answer"
        passing = work.passing if work.carried else []
        made = write_answered(
            facts_of(record, 0),
            finished.custom_id,
            answer.body,
            answer.clamped,
            work.source_timestamp_ms,
            (tokens.input, tokens.output),
            passing,
        )
        topic, partition = work.reply_to or (self._to.results, None)
        to = -1 if partition is None else partition
        record.outputs = (
            _output(Output, (topic, work.key, made.result, made.result_headers, to, 0)),
            _output(Output, (self._to.usage, usage_key(work.tenant), made.usage, made.usage_headers, -1, 0)),
        )
        record.target = OWN if topic == self._to.results else topic
        record.size_bytes = len(made.result) + len(made.usage) + len(work.key or b"") + 2 * OVERHEAD_BYTES
        if passing:
            record.size_bytes += _headers_bytes(passing)

    def _put(self, record: WorkItem, form: Form) -> None:
        failure = record.failure
        if form is Form.ERROR_RESULT and failure is not None and failure.error_class is ErrorClass.UNWRITABLE:
            form = Form.DEAD_LETTER  # there is no place for the error result either
        facts = facts_of(record, self._now_ms())
        record.form = form
        main = self._error_result(record, facts) if form < Form.DEAD_LETTER else self._dead_letter(record)
        usage = self._usage(record, facts)
        record.outputs = (main, usage)
        record.target = OWN if form >= Form.DEAD_LETTER or main.topic == self._to.results else main.topic
        record.size_bytes = len(main.value or b"") + len(usage.value or b"") + 2 * OVERHEAD_BYTES
        record.size_bytes += len(main.key or b"")
        if record.work is None or record.work.carried:
            record.size_bytes += _headers_bytes(main.headers)

    def _error_result(self, record: WorkItem, facts: Facts) -> Output:
        work, finished, failure = record.work, record.finished, record.failure
        assert work is not None, "only a readable work record asks for errors as results"
        assert failure is not None, "an error result says why"
        custom_id = finished.custom_id if finished is not None else custom_id_in(work.value)
        value = error_value(facts, custom_id, failure)
        headers = result_headers(work.source, work.source_timestamp_ms, facts.attempts, work.passing)
        topic, partition = work.reply_to or (self._to.results, None)
        return Output(topic, work.key, value, headers, -1 if partition is None else partition)

    def _dead_letter(self, record: WorkItem) -> Output:
        failure = record.failure
        assert failure is not None, "a dead letter says why"
        letter = letter_of(record, self._to.group, failure)
        bare = record.form is Form.BARE_DEAD_LETTER
        written = write_dead_letter(letter, BARE_BYTES_MAX if bare else self._to.dead_letter_bytes_max)
        return Output(self._to.dead_letters, written.key, written.value, written.headers)

    def _usage(self, record: WorkItem, facts: Facts) -> Output:
        tokens = record.finished.tokens if record.finished is not None else Tokens()
        outcome = "answered" if record.failure is None else record.failure.error_class.value
        used = {"input": tokens.input, "output": tokens.output, "cached": tokens.cached}
        value = usage_value(facts, outcome, used)
        return Output(
            self._to.usage, usage_key(facts.tenant), value, usage_headers(facts, source_timestamp_ms(record))
        )


def _headers_bytes(headers: Headers) -> int:
    return sum(len(name) + len(value or b"") for name, value in headers)
