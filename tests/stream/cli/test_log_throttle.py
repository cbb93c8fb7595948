"""Lines of the Kafka client that repeat themselves."""

from __future__ import annotations

import logging

from stream.cli.log_throttle import REPEAT_S, TEXTS_MAX, LogThrottle

REFUSED = "k:1/bootstrap: Connect failed: Connection refused (after %dms in state CONNECT)"


def line(
    words: str, at_s: float, name: str = "stream.log.kafka.log.events", *args: object
) -> logging.LogRecord:
    record = logging.LogRecord(name, logging.WARNING, "x.py", 1, words, args, None)
    record.created = at_s
    return record


def test_the_same_words_are_written_once_in_a_while_with_their_number() -> None:
    seldom = LogThrottle()
    passed = [
        seldom.filter(line(REFUSED, 100 + i * 0.05, "stream.log.kafka.log.events", i % 3)) for i in range(100)
    ]
    assert passed == [True] + [False] * 99
    later = line(REFUSED, 100 + REPEAT_S, "stream.log.kafka.log.events", 0)
    assert seldom.filter(later)
    assert later.getMessage() == REFUSED % 0 + " (and 99 times more since the last such line)"


def test_other_words_and_other_loggers_pass() -> None:
    seldom = LogThrottle()
    assert all(seldom.filter(line(f"partition {number} is lost", 1)) for number in range(5))
    assert all(
        seldom.filter(line("a transaction was aborted", 1, "stream.exactly_once.outcome")) for _ in range(5)
    )


def test_it_remembers_a_bounded_number_of_texts() -> None:
    seldom = LogThrottle()
    for number in range(2 * TEXTS_MAX):
        seldom.filter(line(f"text {number}", 1))
    assert len(seldom._written) == TEXTS_MAX
