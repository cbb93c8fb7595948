"""Lines to records while Kafka stalls: nothing is skipped, and what is missing is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from stream.client.addressing import Addressing
from stream.client.lines import Line
from stream.client.producing import STALL_S, Producing
from stream.errors import LogTimeout
from stream.log.base import Output
from stream.log.plain import Delivery

ROOM, WAIT_S = 10, 30.0


class Stalling:
    """A producer with room for ROOM records, whose broker takes `left` of them and then nothing until it is woken."""

    def __init__(self, left: int) -> None:
        self.left = left
        self.now_s = 1_000.0
        self.taken: list[bytes | None] = []
        self.wakes_at_s = float("inf")
        self._buffer: list[tuple[Output, Callable[[Delivery], None]]] = []

    def send(self, output: Output, on_delivery: Callable[[Delivery], None] | None = None) -> None:
        assert on_delivery is not None
        self._serve()
        if len(self._buffer) >= ROOM:
            self.now_s += WAIT_S
            self._serve()
        if len(self._buffer) >= ROOM:
            raise LogTimeout("the buffer stayed full")
        self._buffer.append((output, on_delivery))

    def flush(self, timeout_s: float) -> int:
        self.now_s += timeout_s
        self._serve()
        return len(self._buffer)

    def close(self) -> None:
        """Nothing is held."""

    def _serve(self) -> None:
        if self.now_s >= self.wakes_at_s:
            self.left = 1_000_000
        while self._buffer and self.left:
            self.left -= 1
            output, told = self._buffer.pop(0)
            self.taken.append(output.value)
            told(Delivery("t", 0, len(self.taken), None))


def lines(count: int) -> list[Line]:
    return [Line(number, b"%d" % number) for number in range(1, count + 1)]


def producing(broker: Stalling) -> Producing:
    def complain(number: int, why: str) -> None:
        pytest.fail(f"line {number}: {why}")

    return Producing(broker, "t", Addressing(), complain=complain, clock_s=lambda: broker.now_s)


def test_a_stall_is_waited_for_and_leaves_no_hole() -> None:
    broker = Stalling(left=20)
    broker.wakes_at_s = broker.now_s + STALL_S - 1
    produced = producing(broker).run(lines(100))
    assert broker.taken == [b"%d" % number for number in range(1, 101)]
    assert (produced.records, produced.failed, produced.lines) == (100, 0, 100)


def test_a_stall_without_end_stops_at_its_first_line_and_says_where() -> None:
    broker = Stalling(left=20)
    sending = producing(broker)
    with pytest.raises(LogTimeout, match="every line before 21 has been delivered or named, 10 of the lines"):
        sending.run(lines(100))
    assert (sending.produced.records, sending.produced.lines) == (20, 30)
    assert broker.now_s < 1_000 + 2 * STALL_S


def test_a_stall_after_the_last_line_says_the_same() -> None:
    with pytest.raises(LogTimeout, match=r"before 21 .* 5 of the lines from there to 25"):
        producing(Stalling(left=20)).run(lines(25))


def test_a_pause_of_who_writes_the_lines_is_no_stall() -> None:
    broker = Stalling(left=1_000_000)

    def paused() -> Iterator[Line]:
        for line in lines(40):
            broker.now_s += 10 * STALL_S
            yield line

    assert producing(broker).run(paused()).records == 40
