"""Looking for the answers that make a transaction undeliverable: the largest stand aside, else halve."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from stream.exactly_once.halving import Halving
from stream.exactly_once.selection import Caps, select
from stream.exactly_once.work_item import WorkItem

#: So many of a failed transaction may stand aside; where more are as large, size tells nothing.
SUSPECTS_MAX: Final = 16


class Bisection:
    """What the next transaction of a kind holds, while something of that kind fails. Pure.

    A failed delivery fails its neighbours in the same batch too, so only what failed alone is guilty. It fails for its
    size: those at least half as large as the largest are suspects. The others go without them, then each goes alone,
    one after each transaction of the others. Where no few stand out, a cap of records is halved: selection takes a
    prefix, so after log2(n) failures few are left, and the good ones before them go meanwhile.
    """

    def __init__(self, records_max: int) -> None:
        self._records_max = records_max
        self._halved: dict[str, Halving] = {}
        self._suspects: dict[str, set[WorkItem]] = {}
        #: Kinds whose others have just gone: a suspect is next.
        self._due: set[str] = set()

    def cap(self, kind: str) -> int:
        """Records of the next transaction of this kind."""
        halved = self._halved.get(kind)
        return self._records_max if halved is None else halved.cap

    def searching(self, kind: str) -> bool:
        """Something of this kind failed and was not found yet: ask which outputs fail."""
        return kind in self._halved

    def select(
        self,
        lanes: Sequence[Iterable[WorkItem]],
        kind: str,
        kind_of: Callable[[str], str],
        caps: Caps,
        partitions_of: Mapping[str, int],
    ) -> list[WorkItem]:
        """As `selection.select`: without the suspects, or one of them alone."""
        suspects = self._suspects.get(kind)
        if not suspects:
            return select(lanes, kind, kind_of, caps, partitions_of)
        others = select(lanes, kind, kind_of, caps, partitions_of, suspects)
        if others and kind not in self._due:
            return others
        alone = replace(caps, records_max=1)
        return select(lanes, kind, kind_of, alone, partitions_of, _AllBut(suspects)) or others

    def failed(self, kind: str, records: Sequence[WorkItem]) -> None:
        """A transaction of these (more than one) could not be delivered."""
        half = max(record.size_bytes for record in records) / 2
        large = [record for record in records if record.size_bytes >= half]
        if len(large) <= SUSPECTS_MAX:
            self._suspects.setdefault(kind, set()).update(large)
        else:
            self._halved.setdefault(kind, Halving(self._records_max)).failed(len(records))

    def succeeded(self, kind: str, records: Iterable[WorkItem]) -> None:
        """These are published. Widen again; forget the search once the cap is of no effect."""
        if self._suspects:
            self._clear(kind, records)
        halved = self._halved.get(kind)
        if halved is not None:
            halved.succeeded()
            if not halved.searching:
                del self._halved[kind]

    def gave_up(self, kind: str, record: WorkItem) -> None:
        """It failed alone and goes in another form."""
        if self._suspects:
            self._clear(kind, [record])

    def _clear(self, kind: str, records: Iterable[WorkItem]) -> None:
        """The others' turn and a suspect's alternate. Who is published, or not ours any more, is no suspect."""
        ended = set(records)
        suspects = self._suspects.get(kind, set())
        (self._due.add if suspects.isdisjoint(ended) else self._due.discard)(kind)
        for name, found in list(self._suspects.items()):
            left = {record for record in found - ended if record.ledger is not None}
            if left:
                self._suspects[name] = left
            else:
                del self._suspects[name]
                self._due.discard(name)


class _AllBut:
    """Whoever is not among these."""

    def __init__(self, these: Container[WorkItem]) -> None:
        self._these = these

    def __contains__(self, record: object) -> bool:
        return record not in self._these
