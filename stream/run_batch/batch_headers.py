"""The headers by which a batch knows its own: on each record, and on the marks that tell how far it was sent."""

from __future__ import annotations

from typing import Final

import msgspec

from schemas import headers as names
from schemas.failure import ErrorClass
from schemas.headers import Headers
from stream.log.base import Output
from stream.run_batch.row import Mark, Row

#: `<batch>/<row>`: no control header, so it travels to the answer and the dead letter.
ROW: Final = "run-batch-row"
#: `<batch>`: a record on the batch's own reply topic, committed with the rows below its mark.
SENT: Final = "run-batch-sent"
#: Headers that the batch sets: nobody else may.
OWN: Final = frozenset({ROW, SENT, names.REPLY_TO, names.ERRORS})
_encode: Final = msgspec.json.Encoder().encode


def request_output(row: Row, batch: str, topic: str, reply_topic: str) -> Output:
    """A row on its way in; one that cannot be sent goes to the reply topic at once, as its own error."""
    place = f"{batch}/{row.number}"
    name = (ROW, place.encode())
    if row.value is None:
        error = error_line(place, row.custom_id, ErrorClass.INVALID, row.problem)
        return Output(reply_topic, row.key, error, [name])
    own = [(names.REPLY_TO, reply_topic.encode()), (names.ERRORS, b"result"), name]
    return Output(topic, row.key, row.value, [*own, *row.headers])


def mark_output(mark: Mark, batch: str, reply_topic: str) -> Output:
    """In the transaction of the rows that it speaks of. Always on partition 0: one look finds the last."""
    return Output(reply_topic, None, _encode(mark), [(SENT, batch.encode())], 0)


def error_line(name: str, custom_id: str | None, code: str, message: str) -> bytes:
    """A result line for what never became a request."""
    error = {"code": code, "message": message}
    return _encode({"id": name, "custom_id": custom_id, "response": None, "error": error})


def read_mark(headers: Headers, value: bytes | None, batch: str) -> Mark | None:
    """None where the record is no mark of this batch."""
    if value is None or (SENT, batch.encode()) not in headers:
        return None
    return msgspec.json.decode(value, type=Mark)
