"""A service for tests: answers what is on the input topics by a function of yours, without dispatcher, worker or engine."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from types import TracebackType
from typing import Any, Final, Self

import msgspec

from schemas import headers as names
from schemas.custom_id import custom_id_in
from schemas.dead_letter import DeadLetter, write_dead_letter
from schemas.failure import ErrorClass, Failure, Stage
from schemas.headers import Headers
from schemas.result import Facts, answer_value, error_value, result_headers
from schemas.source import Source
from stream.client.client import Client
from stream.client.topic_names import input_topic_name
from stream.log.base import Output, Record
from stream.log.readable import safe_headers

POLL_S: Final = 0.05
POLL_RECORDS_MAX: Final = 500
FLUSH_S: Final = 30.0
END_S: Final = 30.0

#: From a request line to the answer's text, or to its whole body. A ValueError becomes a dead letter of class `invalid`.
AnswerWith = Callable[[dict[str, Any]], str | Mapping[str, Any]]


def echo(request: dict[str, Any]) -> str:
    """The prompt, or the last message."""
    body = request["body"]
    return str(body["prompt"] if "prompt" in body else body["messages"][-1]["content"])


class FakeService:
    """A context: while it lasts, a thread answers every request, those that were there before included."""

    def __init__(self, client: Client, answer: AnswerWith = echo) -> None:
        self._log = client.log
        self._outputs = client.settings.outputs
        self._answer = answer
        self._reader = client.log.reader([input_topic_name(client.settings, None)])
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="fake-service", daemon=True)
        self._broken: BaseException | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """What went wrong in the thread is raised here."""
        self._ended.set()
        self._thread.join(END_S)
        if self._broken is not None:
            raise self._broken

    def _run(self) -> None:
        try:
            with closing(self._reader), closing(self._log.plain_producer()) as producer:
                while not self._ended.is_set():
                    for record in self._reader.poll(POLL_RECORDS_MAX, POLL_S).records:
                        producer.send(self._output(record))
                    producer.flush(FLUSH_S)
        except BaseException as wrong:
            self._broken = wrong

    def _output(self, record: Record) -> Output:
        source = Source(record.topic(), record.partition(), record.offset())
        headers = safe_headers(record) or []
        asked = {name: value.decode() for name, value in headers if value is not None}
        facts = Facts(source, None, None, None, 1)
        name = custom_id_in(record.value())
        try:
            value = answer_value(facts, name, self._body(record.value() or b""))
        except (ValueError, KeyError, msgspec.DecodeError) as wrong:
            failure = Failure(ErrorClass.INVALID, Stage.VALIDATE, str(wrong))
            if asked.get(names.ERRORS) != "result":
                return self._dead(record, headers, source, failure)
            value = error_value(facts, name, failure)
        topic, _, partition = asked.get(names.REPLY_TO, self._outputs.results).partition(":")
        passing = result_headers(source, 0, 1, _producers(headers))
        return Output(topic, record.key(), value, passing, int(partition or -1))

    def _body(self, value: bytes) -> Mapping[str, Any]:
        answer = self._answer(msgspec.json.decode(value, type=dict[str, Any]))
        if not isinstance(answer, str):
            return answer
        message = {"role": "assistant", "content": answer}
        return {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}

    def _dead(self, record: Record, headers: Headers, source: Source, failure: Failure) -> Output:
        carried = tuple(_producers(headers))
        written = write_dead_letter(
            DeadLetter(record.key(), record.value(), carried, source, 0, "fake-service", failure)
        )
        return Output(self._outputs.dead_letters, record.key(), written.value, written.headers)


def _producers(headers: Headers) -> Headers:
    return [header for header in headers if not header[0].startswith("headrace-")]
