"""`[limits]`: every bound, by its name and unit."""

from __future__ import annotations

from stream.config.rules import whole
from stream.config.settings import MIB, OWN_BYTES_MAX, Limits
from stream.config.table import Table
from stream.exactly_once.offset_map import open_records_bound
from stream.log.limits import MESSAGE_BYTES_MAX


def read_limits(table: Table) -> Limits:
    """The bounds; what is not said keeps its default."""
    default = Limits()
    limits = Limits(
        value_bytes_max=table.take(
            "value_bytes_max", whole(1024, MESSAGE_BYTES_MAX), default.value_bytes_max
        ),
        dead_letter_bytes_max=table.take(
            "dead_letter_bytes_max", whole(1024, MESSAGE_BYTES_MAX), default.dead_letter_bytes_max
        ),
        headers_bytes_max=table.take("headers_bytes_max", whole(1024, MIB), default.headers_bytes_max),
        open_records_max=table.take("open_records_max", whole(1, 10_000), default.open_records_max),
        span_offsets_max=table.take("span_offsets_max", whole(1, 10_000_000), default.span_offsets_max),
        txn_records_max=table.take("txn_records_max", whole(1, 100_000), default.txn_records_max),
        txn_bytes_max=table.take("txn_bytes_max", whole(1024, 1024 * MIB), default.txn_bytes_max),
        txn_partitions_max=table.take("txn_partitions_max", whole(1, 10_000), default.txn_partitions_max),
    )
    bound = open_records_bound(limits.span_offsets_max)
    if limits.open_records_max > bound:
        what = f"must be from 1 to {bound}, not {limits.open_records_max}: more would not fit the offset map"
        table.wrong("open_records_max", f"{what} with span_offsets_max = {limits.span_offsets_max}")
    _fit_the_producer(limits, table)
    table.close()
    return limits


def _fit_the_producer(limits: Limits, table: Table) -> None:
    """What is let in must come out again, with its headers and ours."""
    room = MESSAGE_BYTES_MAX - limits.headers_bytes_max - OWN_BYTES_MAX
    for key in ("value_bytes_max", "dead_letter_bytes_max"):
        value = getattr(limits, key)
        if value > room:
            what = f"must be at most {room}, not {value}: more could not be written again"
            table.wrong(key, f"{what} with headers_bytes_max = {limits.headers_bytes_max}")
