"""Records on their way through one transaction, each with its one output, in the order they were read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from operator import itemgetter

from schemas.weight import record_weight
from stream.log.base import Output, Partition, Record

_value = itemgetter(Output._fields.index("value"))
_key = itemgetter(Output._fields.index("key"))


class Batch:
    """`records[i]` became `outputs[i]`. A transaction takes a prefix, so that the order of every partition holds."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.outputs: list[Output] = []
        #: Some output has headers of a producer, which count in its size. Ours are few and small: they do not.
        self.with_headers = False
        #: Topics that are not ours among the outputs: each of those travels alone.
        self.foreign: set[str] = set()
        #: Where each partition stands once all of it is committed, gaps included; known when nothing is added any more.
        self.ends: dict[Partition, int] = {}

    def __len__(self) -> int:
        return len(self.records)

    def prefix(self, records_max: int, bytes_max: int) -> int:
        """How many of the first records go together: at least one, where there are any."""
        count = min(len(self.outputs), records_max)
        if self.foreign:
            count = self._up_to_foreign(count)
        outputs = self.outputs if count == len(self.outputs) else self.outputs[:count]
        if self._size(outputs) <= bytes_max:
            return count
        return self._up_to_bytes(count, bytes_max)

    def _size(self, outputs: list[Output]) -> int:
        """Bytes; the hot path where no producer set a header."""
        if self.with_headers:
            return sum(map(_weight, outputs))
        values, keys = map(_value, outputs), map(_key, outputs)
        return sum(map(len, filter(None, values))) + sum(map(len, filter(None, keys)))

    def _up_to_bytes(self, count: int, bytes_max: int) -> int:
        size = 0
        for place, output in enumerate(self.outputs[:count]):
            size += _weight(output)
            if size > bytes_max:
                return max(1, place)
        return count

    def _up_to_foreign(self, count: int) -> int:
        for place in range(count):
            if self.outputs[place].topic in self.foreign:
                return max(1, place)
        return count

    def ends_of(self, count: int) -> Mapping[Partition, int]:
        """For each partition in the first `count` records: the offset after its last one."""
        if count == len(self.records):
            return self.ends
        return {Partition(r.topic(), r.partition()): r.offset() + 1 for r in self.records[:count]}

    def done(self, count: int) -> None:
        """The first `count` are committed."""
        if count < len(self.records):
            del self.records[:count]
            del self.outputs[:count]
        else:
            self.records, self.outputs = [], []
            self.foreign.clear()
            self.with_headers = False
            self.ends = {}

    def drop(self, partitions: Collection[Partition]) -> None:
        """They are somebody else's now."""
        self._keep([(r.topic(), r.partition()) not in partitions for r in self.records])
        self.ends = {partition: end for partition, end in self.ends.items() if partition not in partitions}

    def drop_below(self, offsets: Mapping[Partition, int]) -> None:
        """Everything below these offsets is known to be committed."""
        self._keep([r.offset() >= offsets.get(Partition(r.topic(), r.partition()), 0) for r in self.records])

    def _keep(self, wanted: list[bool]) -> None:
        self.records = [record for record, keep in zip(self.records, wanted, strict=True) if keep]
        self.outputs = [output for output, keep in zip(self.outputs, wanted, strict=True) if keep]


def _weight(output: Output) -> int:
    return record_weight(output.key, output.value, output.headers)


class Batches:
    """Two: one is sent while the next is read, so that routing does not wait for Kafka's answers."""

    def __init__(self) -> None:
        self.sending = Batch()
        self.reading = Batch()
        #: The transaction under way must find its batch as it began: what is lost meanwhile is dropped after it.
        self._under_way = False
        self._lost: set[Partition] = set()

    @property
    def waiting(self) -> int:
        """Records that are not committed."""
        return len(self.sending) + len(self.reading)

    def lose(self, partitions: Collection[Partition]) -> None:
        """These partitions are not ours any more."""
        self.reading.drop(partitions)
        if self._under_way:
            self._lost.update(partitions)
        else:
            self.sending.drop(partitions)

    def begin(self) -> None:
        """A transaction takes a prefix of `sending`."""
        self._under_way = True

    def end(self) -> None:
        """Its outcome has been noted."""
        self._under_way = False
        if self._lost:
            self.sending.drop(self._lost)
            self._lost = set()

    def advance(self, ends: dict[Partition, int]) -> Batch:
        """What was read goes next; `ends` are where the partitions stand. Nothing happens before the last one is through."""
        if not self.sending.records:
            self.sending, self.reading = self.reading, self.sending
            self.sending.ends = ends
        return self.sending
