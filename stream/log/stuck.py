"""A partition that its client cannot read on: what stands there does not come out of the batch it is in.

What librdkafka 2.16 reports, seen on Kafka 4 with batches made for it, always as an error event that names topic,
partition and the first offset of the batch, again with every fetch (each 0.1 s), and without ever going on by itself:

- `_BAD_COMPRESSION`: zstd that unpacks to more than `receive.message.max.bytes` (100 MB; gzip, lz4 and snappy unpack
  without a bound), and any codec's bytes that do not unpack.
- `_NOT_IMPLEMENTED`: a codec, or a format of records, that it does not know.
- `_BAD_MSG`: a checksum that does not hold (`check.crcs`). It then takes the bytes behind for a batch of its own,
  reports offsets that do not exist, and in the end starts at the log's first record: read nothing after the first report.
"""

from __future__ import annotations

from typing import NamedTuple


class Stuck(NamedTuple):
    """At `offset` (the first of its batch; also where reading began within it) stands what cannot be read."""

    topic: str
    partition: int
    offset: int
    #: A short label for the metric: `bad_compression`.
    cause: str
    #: The client's own words.
    why: str

    def __str__(self) -> str:
        return f"{self.topic}/{self.partition} cannot be read at offset {self.offset}: {self.why}"
