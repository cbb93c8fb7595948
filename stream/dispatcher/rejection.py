"""How a record's end without an answer is told: a dead letter, or an error result where the producer asked for it."""

from __future__ import annotations

import msgspec

from schemas.carry import passing
from schemas.control import Control, readable_control
from schemas.custom_id import custom_id_in
from schemas.errors import BadRecord
from schemas.failure import Failure
from schemas.request import Request
from schemas.result import Facts, error_value, result_headers
from schemas.source import Source
from stream.config.settings import Settings
from stream.dispatcher.batch import Batches
from stream.dispatcher.bindings import Inlet
from stream.dispatcher.dead_letters import DeadLetters
from stream.dispatcher.partial_metadata import found_in_input
from stream.dispatcher.reply_topics import ReplyTopicChecks
from stream.log.base import Output, Record
from stream.log.readable import headers_told


class Rejections:
    """Chooses between the two; a reply topic that is not ours is marked in the batch, to travel alone."""

    def __init__(
        self, settings: Settings, letters: DeadLetters, targets: ReplyTopicChecks, batches: Batches
    ) -> None:
        self._results = settings.outputs.results
        self._headers_bytes_max = settings.limits.headers_bytes_max
        self._letters = letters
        self._targets = targets
        self._batches = batches

    def output(
        self,
        record: Record,
        failure: Failure,
        inlet: Inlet,
        control: Control | None,
        request: Request | None,
    ) -> Output:
        """The one output of a record that goes no further. LogTimeout: the reply topic cannot be looked up now."""
        if control is None:
            # Headers were refused: those that are right count all the same.
            control = readable_control(headers_told(record).headers, record.key(), self._headers_bytes_max)
        found = found_in_input(inlet, control, request)
        if control is None or control.errors != "result" or not self._replies(control):
            return self._letters.write(record, failure, found)
        source = Source(record.topic(), record.partition(), record.offset())
        facts = Facts(source, found.endpoint, found.tenant, found.lane, attempts=0)
        if request is not None:
            said = {"ignored": request.ignored, "ignored_count": request.ignored_count}
            facts = msgspec.structs.replace(facts, **said)
        custom_id = request.custom_id if request else custom_id_in(record.value())
        value = error_value(facts, custom_id, failure)
        headers = result_headers(source, max(0, record.timestamp()[1]), 0, passing(control.carried))
        topic, partition = control.reply_to or (self._results, None)
        if topic != self._results:
            self._batches.reading.foreign.add(topic)
        return Output(topic, record.key(), value, headers, -1 if partition is None else partition)

    def _replies(self, control: Control) -> bool:
        if control.reply_to is None:
            return True
        try:
            self._targets.check(*control.reply_to)
        except BadRecord:
            return False
        return True
