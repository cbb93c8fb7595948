"""One run of a batch: rows in, outcomes out, how far it is written down in between."""

from __future__ import annotations

from contextlib import closing
from typing import Final

import msgspec

from stream.client.progress import Tempo
from stream.errors import LogTimeout, StreamError, WaitedTooLong
from stream.log.base import LogReader, Partition
from stream.run_batch.dependencies import BatchDependencies
from stream.run_batch.outcome import outcome_of
from stream.run_batch.row import Mark
from stream.run_batch.state import State

#: Rows sent and without an outcome: enough for any engine, few enough to be told of in a moment.
AHEAD_ROWS_MAX: Final = 20_000
POLL_RECORDS_MAX: Final = 2_000
POLL_S: Final = 0.25
#: How far the batch is, is written down so often; what came since is read again after a kill.
WRITE_EVERY_S: Final = 1.0
ASK_S: Final = 30.0
#: For reading the marks of a predecessor.
CATCH_UP_S: Final = 300.0


class Batch:
    """From a state to every row's outcome. A wish to stop is asked for between two turns, never in the middle of one."""

    def __init__(self, state: State, parts: BatchDependencies) -> None:
        self._state = state
        self._parts = parts
        self._positions = {_partition(name): offset for name, offset in state.positions.items()}
        self._marked = state.sent
        self._ready = False
        now_s = parts.clock_s()
        self._tempo = Tempo(state.rows, parts.answers.done, now_s)
        self._written_s = now_s

    def run(self) -> State:
        """Until every row has its outcome. What it raises leaves a state that the next run goes on from."""
        parts = self._parts
        with closing(parts.log.reader(self._positions)) as reader:
            while parts.answers.done < self._state.rows:
                self._turn(reader)
        while self._write():
            pass
        return self._state

    def _turn(self, reader: LogReader) -> None:
        parts = self._parts
        sending = self._send(reader)
        before = parts.answers.done
        self._take(reader, 0.0 if sending else POLL_S)
        now_s = parts.clock_s()
        if parts.answers.done > before:
            parts.quiet.heard(now_s)
        try:
            parts.check()
            parts.quiet.check(now_s)
        except (StreamError, KeyboardInterrupt):
            self._write()
            raise
        if now_s - self._written_s >= WRITE_EVERY_S:
            self._write()

    def _send(self, reader: LogReader) -> bool:
        """Whether more is to be sent at once. A broker that is away is asked again at the next turn."""
        feeder = self._parts.feeder
        try:
            if not self._ready:
                feeder.start()
                self._catch_up(reader)
                feeder.begin(self._marked)
                self._ready = True
            if feeder.sent.rows >= self._state.rows:
                return False
            if feeder.sent.rows - self._parts.answers.done >= AHEAD_ROWS_MAX:
                return False
            self._ready = feeder.send()
        except LogTimeout:
            self._ready = False
            return False
        return True

    def _catch_up(self, reader: LogReader) -> None:
        """Read all marks that are there. `start` came before: none comes after that is not ours."""
        place = Partition(self._state.reply_topic, 0)
        end = self._parts.log.admin().stable_ends([place], ASK_S)[place]
        until_s = self._parts.clock_s() + CATCH_UP_S
        while self._positions[place] < end:
            self._take(reader, POLL_S)
            if self._parts.clock_s() > until_s:
                raise WaitedTooLong(
                    f"the marks on {self._state.reply_topic} were not read in {CATCH_UP_S:.0f} s"
                )

    def _take(self, reader: LogReader, timeout_s: float) -> None:
        polled = reader.poll(POLL_RECORDS_MAX, timeout_s)
        for record in polled.records:
            found = outcome_of(record, self._state.batch)
            if isinstance(found, Mark):
                self._marked = max(self._marked, found, key=lambda mark: mark.rows)
            elif found is not None:
                self._parts.answers.add(found)
            self._positions[Partition(record.topic(), record.partition())] = record.offset() + 1
        for topic, partition, offset in polled.ends:
            place = Partition(topic, partition)
            self._positions[place] = max(self._positions[place], offset)

    def _write(self) -> bool:
        """Write down how far it is; whether more may be put in order at once."""
        parts = self._parts
        more = parts.in_order is not None and parts.in_order.advance(self._state.rows)
        self._state = msgspec.structs.replace(
            self._state,
            sizes=parts.answers.sync(),
            positions={f"{topic}/{number}": offset for (topic, number), offset in self._positions.items()},
            sent=self._marked,
            failed=parts.answers.failed,
        )
        if parts.in_order is not None:
            sizes = parts.in_order.sync()
            self._state = msgspec.structs.replace(
                self._state, ordered=parts.in_order.rows, ordered_sizes=sizes
            )
        parts.keep.write(self._state)
        self._written_s = parts.clock_s()
        parts.show.update(
            self._tempo.look(parts.answers.done, parts.answers.failed, self._written_s), self._written_s
        )
        return more


def _partition(name: str) -> Partition:
    topic, _, number = name.rpartition("/")
    return Partition(topic, int(number))
