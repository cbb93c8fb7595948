"""Header names that are not UTF-8, end to end on a real Kafka."""

from __future__ import annotations

import pytest

from schemas.dead_letter import HEADERS_UNREADABLE
from schemas.failure import ErrorClass, Stage
from stream.broker import EmbeddedBroker
from stream.log.base import Record
from stream.replay.decisions import replay
from stream.replay.find import Wanted
from tests.stream.dispatcher.kafka_site import GOOD, Site, site, turn_until
from tests.stream.dispatcher.raw_produce import RawHeader, RawRecord, produce_raw

__all__ = ["site"]
pytestmark = pytest.mark.broker

BAD_NAME = b"caf\xe9"


def unreadable(record: Record) -> bool:
    try:
        record.headers()
    except UnicodeDecodeError:
        return True
    return False


def test_a_header_name_that_is_not_utf8_costs_its_own_record_one_dead_letter(
    kafka: EmbeddedBroker, site: Site
) -> None:
    made = site.dispatcher()
    bad: list[RawHeader] = [(b"mine", b"1"), (BAD_NAME, b"2"), (b"headrace-errors", b"result")]
    headers: list[list[RawHeader]] = [bad, [(b"mine", None)], [], [(BAD_NAME, None)], bad]
    sent = [RawRecord(b"k-%d" % number, GOOD, each) for number, each in enumerate(headers)]
    produce_raw(kafka.bootstrap_servers, site.input, sent)
    reader = site.log.reader([site.input])
    assert [unreadable(record) for record in reader.to_end(30)] == [True, False, False, True, True]
    reader.close()
    turn_until(made, lambda: site.done(site.input))
    assert [(work.source.offset, work.value, work.key) for work in site.work()] == [
        (number, GOOD, b"k-%d" % number) for number in (1, 2)
    ]
    letters = site.dead()
    assert [(letter.source.offset, letter.value, letter.key) for letter in letters] == [
        (number, GOOD, b"k-%d" % number) for number in (0, 3, 4)
    ]
    for letter in letters:
        assert (letter.failure.error_class, letter.failure.stage) == (ErrorClass.UNREADABLE, Stage.DECODE)
        assert letter.headers_omitted == HEADERS_UNREADABLE
        assert "UTF-8" in letter.failure.message
    told = list(replay(site.log, site.settings, Wanted()))
    assert not any(each.outcome == "replayed" for each in told), told
    made.close()
