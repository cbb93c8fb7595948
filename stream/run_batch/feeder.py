"""Rows on their way in: each chunk in one transaction with the mark that says how far it goes.

So the reply topic itself tells what was sent, to whoever reads it after any kill. What is open belongs to a dead
predecessor and is ended by `start`, before the marks are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from stream.errors import LogError, LogFenced, UsageError
from stream.log import reasons
from stream.log.base import Aborted, Fenced, Log, Success, Unknown
from stream.run_batch.batch_headers import mark_output, request_output
from stream.run_batch.row import Mark, Row, Rows

#: Of one transaction: large enough to cost little, small enough to be over in a moment.
CHUNK_ROWS_MAX: Final = 1_000
CHUNK_BYTES_MAX: Final = 4 * 1024 * 1024
START_S: Final = 30.0
#: A transaction that is aborted again and again says why.
ABORTED_MAX: Final = 20


class Feeder:
    """Sends the rows of one batch, from a mark on."""

    def __init__(
        self, log: Log, rows: Rows, batch: str, transactional_id: str, topics: tuple[str, str]
    ) -> None:
        """`topics`: (input, reply)."""
        self._producer = log.producer(transactional_id)
        self._rows = rows
        self._batch = batch
        self._topic, self._reply_topic = topics
        self._left: Iterator[Row] = iter(())
        self._aborted = 0
        #: So many of the next rows go alone: one of them is too large for its topic.
        self._alone = 0
        #: All below is known to be sent.
        self.sent = Mark()

    def start(self) -> None:
        """End what a predecessor has open. LogTimeout where the broker is away: again."""
        self._producer.start(START_S)

    def begin(self, sent: Mark) -> None:
        """Go on from there: the last mark that was read after `start`."""
        self.sent = sent
        self._left = self._rows.read(sent)

    def send(self) -> bool:
        """One chunk; False: nobody can say whether it was sent, so `start`, read the marks, and `begin` again.

        LogFenced: another command sends this batch. LogError: the broker does not take it.
        """
        chunk = _chunk(self._left, 1 if self._alone else CHUNK_ROWS_MAX)
        if not chunk:
            raise UsageError(
                f"the input ends after {self.sent.rows} rows and had more: it was changed meanwhile"
            )
        outputs = [request_output(row, self._batch, self._topic, self._reply_topic) for row in chunk]
        mark = chunk[-1].after
        last = mark_output(mark, self._batch, self._reply_topic)
        outcome = self._producer.publish([*outputs, last], [], None)
        match outcome:
            case Success():
                self.sent, self._aborted = mark, 0
                self._alone = max(0, self._alone - len(chunk))
                return True
            case Unknown():
                return False
            case Fenced():
                raise LogFenced("another run-batch sends this batch")
            case Aborted():
                self._again(chunk, outcome)
                return True

    def close(self) -> None:
        self._producer.close()

    def _again(self, chunk: Sequence[Row], aborted: Aborted) -> None:
        """The same rows come next: alone where one of them is too large, as its own error where it is alone already."""
        self._aborted += 1
        too_large = aborted.delivery and aborted.cause == reasons.TOO_LARGE
        if self._aborted >= ABORTED_MAX and not too_large:
            raise LogError(f"{self._topic} takes no records: {aborted.cause}")
        if too_large and len(chunk) == 1:
            self._aborted = 0
            problem = f"line {chunk[0].line} is larger than {self._topic} takes"
            chunk = [chunk[0]._replace(value=None, problem=problem)]
        elif too_large:
            self._alone = len(chunk)
        self._left = chain(chunk, self._left)


def _chunk(rows: Iterator[Row], rows_max: int) -> list[Row]:
    chunk: list[Row] = []
    size = 0
    for row in rows:
        chunk.append(row)
        size += len(row.value or b"")
        if len(chunk) >= rows_max or size >= CHUNK_BYTES_MAX:
            break
    return chunk
