"""`[limits]`: every bound, by its name and unit."""

from __future__ import annotations

from stream.config.rules import whole
from stream.config.settings import MIB, Limits
from stream.config.table import Table
from stream.ledger.offset_map import open_records_bound


def read_limits(table: Table) -> Limits:
    """The bounds; what is not said keeps its default."""
    default = Limits()
    limits = Limits(
        value_bytes_max=table.take("value_bytes_max", whole(1024, 256 * MIB), default.value_bytes_max),
        dead_letter_bytes_max=table.take(
            "dead_letter_bytes_max", whole(1024, 257 * MIB), default.dead_letter_bytes_max
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
    table.close()
    return limits
