"""The ledger of one partition."""

from __future__ import annotations

import pytest

from stream.errors import LedgerBroken, MapUnreadable
from stream.exactly_once.ledger import LedgerLimits, PartitionLedger
from stream.exactly_once.offset_map import OffsetMap, decode
from stream.log.base import Partition

P = Partition("work", 3)
END = 1_000_000


def ledger(loaded: OffsetMap | None = None, log_end: int = END, **limits: int) -> PartitionLedger[str]:
    return PartitionLedger(P, loaded or OffsetMap.empty(0), log_end, LedgerLimits(**limits))


def commit(book: PartitionLedger[str], *sources: int) -> OffsetMap:
    stage = book.stage(sources)
    book.commit(stage)
    return decode(stage.metadata, stage.base, END)


def finished(book: PartitionLedger[str], *offsets: int) -> None:
    for offset in offsets:
        book.finish(offset)


def test_a_finished_record_above_an_open_one_is_in_the_map() -> None:
    book = ledger()
    for offset in range(4):
        assert book.deliver(offset, "r")
    finished(book, 2)
    found = commit(book, 2)
    assert (found.base, found.hi, found.incomplete) == (0, 2, (0, 1))
    assert found.says_done(2)
    assert not found.says_done(3)


def test_after_a_restart_only_what_is_open_runs_again() -> None:
    book = ledger()
    for offset in range(5_001):
        book.deliver(offset, "r")
    finished(book, *range(1, 5_001))
    loaded = commit(book, *range(1, 5_001))
    again = ledger(loaded)
    assert [offset for offset in range(5_001) if again.deliver(offset, "r")] == [0]


def test_offsets_never_delivered_are_done() -> None:
    book = ledger()
    book.deliver(0, "r")
    book.deliver(2, "r")
    book.deliver(16, "r")
    book.deliver(18, "r")
    finished(book, 0, 2, 16, 18)
    commit(book, 0, 2, 16, 18)
    assert book.base == 19
    book.end(32)
    assert book.dirty
    assert commit(book).base == 32


def test_an_end_event_older_than_the_records_changes_nothing() -> None:
    book = ledger()
    book.deliver(0, "r")
    book.deliver(1, "r")
    book.end(1)
    assert book.next_seen == 2
    assert commit(book).base == 0


def test_incomplete_offsets_of_the_map_that_never_come_back_are_gaps() -> None:
    """Compaction or DeleteRecords took them: nothing can be answered for them."""
    book = ledger(OffsetMap(2, 9, (2, 4, 7)))
    assert book.deliver(7, "r")
    assert commit(book).base == 7
    assert not book.deliver(8, "r")
    assert not book.deliver(9, "r")
    assert book.deliver(10, "r")


def test_a_map_survives_a_commit_before_its_records_were_seen_again() -> None:
    book = ledger(OffsetMap(2, 9, (2, 4, 7)))
    book.deliver(2, "r")
    finished(book, 2)
    found = commit(book, 2)
    assert (found.base, found.hi, found.incomplete) == (4, 9, (4, 7))


def test_a_first_record_below_base_means_a_recreated_topic() -> None:
    with pytest.raises(MapUnreadable, match="recreated"):
        ledger(OffsetMap.empty(10)).deliver(3, "r")


def test_a_later_record_that_goes_back_is_our_own_bug() -> None:
    book = ledger()
    book.deliver(0, "r")
    book.deliver(1, "r")
    with pytest.raises(LedgerBroken):
        book.deliver(1, "r")


def test_k_bounds_the_open_records_until_they_are_committed() -> None:
    book = ledger(open_records_max=3)
    for offset in range(3):
        book.deliver(offset, "r")
    assert book.room == 0
    finished(book, 1)
    assert book.room == 0
    commit(book, 1)
    assert book.room == 1


def test_span_bounds_the_offsets_above_base() -> None:
    book = ledger(span_offsets_max=10)
    book.deliver(0, "r")
    book.deliver(9, "r")
    assert book.room == 0
    finished(book, 0)
    commit(book, 0)
    assert book.room > 0


def test_an_aborted_transaction_leaves_its_answers_ready() -> None:
    book = ledger()
    book.deliver(0, "r")
    finished(book, 0)
    stage = book.stage([0])
    book.abort(stage)
    assert list(book.ready) == [0]
    assert commit(book, 0).base == 1


def test_two_transactions_at_a_time_are_refused() -> None:
    book = ledger()
    book.stage()
    with pytest.raises(LedgerBroken, match="under way"):
        book.stage()


def test_only_ready_answers_can_be_staged() -> None:
    book = ledger()
    book.deliver(0, "r")
    with pytest.raises(LedgerBroken, match="not ready"):
        book.stage([0])


@pytest.mark.parametrize("happened", [True, False])
def test_the_map_decides_an_unknown_commit(happened: bool) -> None:
    book = ledger()
    book.deliver(0, "a")
    book.deliver(1, "b")
    finished(book, 1)
    before = commit(book)
    stage = book.stage([1])
    found = decode(stage.metadata, stage.base, END) if happened else before
    assert book.reconcile(stage, found) == (["b"] if happened else [])
    assert (1 in book.ready) is not happened


def test_without_any_committed_offset_an_unknown_commit_did_not_happen() -> None:
    book = ledger()
    book.deliver(0, "a")
    finished(book, 0)
    assert book.reconcile(book.stage([0]), None) == []
    assert 0 in book.ready


class TestDeaths:
    """Section 11: a count that survives the process."""

    def test_a_marked_process_counts_until_it_unmarks(self) -> None:
        book = ledger(OffsetMap(0, -1, deaths=1))
        book.deliver(0, "r")
        book.mark()
        assert commit(book).deaths == 2
        book.unmark()
        assert commit(book).deaths == 1

    def test_deaths_are_kept_until_the_first_suspects_are_done(self) -> None:
        book = ledger(OffsetMap(0, -1, deaths=2), suspects_max=3)
        for offset in range(6):
            book.deliver(offset, "r")
        finished(book, *range(5))
        assert commit(book, 1, 2).deaths == 2
        assert commit(book, 0).deaths == 0
        assert book.deaths_past == 0

    def test_where_the_log_ends_earlier_all_its_records_are_the_suspects(self) -> None:
        book = ledger(OffsetMap(0, -1, deaths=2), log_end=2)
        book.deliver(0, "r")
        book.deliver(1, "r")
        finished(book, 0, 1)
        assert commit(book, 0).deaths == 2
        assert commit(book, 1).deaths == 0

    def test_a_partition_without_work_forgets_its_deaths(self) -> None:
        assert ledger(OffsetMap(5, 4, deaths=2), log_end=5).deaths_past == 0

    def test_the_record_that_is_tried_alone_is_named_until_it_is_done(self) -> None:
        book = ledger()
        book.deliver(0, "r")
        book.try_alone(0)
        assert commit(book).trying == 0
        finished(book, 0)
        assert commit(book, 0).trying is None
        assert book.trying is None

    def test_a_condemned_record_stays_named_until_its_dead_letter_is_committed(self) -> None:
        book = ledger(OffsetMap(0, -1, deaths=3, trying=1))
        assert book.convicted == 1
        book.deliver(0, "r")
        book.deliver(1, "r")
        book.mark()
        assert commit(book).trying == 1
        finished(book, 1)
        assert commit(book, 1).trying is None
        assert book.convicted is None
