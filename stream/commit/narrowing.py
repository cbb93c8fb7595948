"""Looking for the one guilty answer of a transaction that cannot be delivered: halve until it stands alone."""

from __future__ import annotations


class Narrowing:
    """A cap of records per kind of transaction, while something of that kind fails. Pure.

    A failed delivery fails its neighbours in the same batch too, so only what failed alone is guilty. Selection takes
    a prefix, so the guilty answer is alone after at most log2(n) failures, and the good ones before it go meanwhile.
    """

    def __init__(self, records_max: int) -> None:
        self._records_max = records_max
        self._caps: dict[str, int] = {}

    def cap(self, kind: str) -> int:
        """Records of the next transaction of this kind."""
        return self._caps.get(kind, self._records_max)

    def searching(self, kind: str) -> bool:
        """Something of this kind failed and was not found yet: ask which outputs fail."""
        return kind in self._caps

    def failed(self, kind: str, records: int) -> None:
        """A transaction of so many (> 1) could not be delivered."""
        self._caps[kind] = max(1, records // 2)

    def succeeded(self, kind: str) -> None:
        """Widen again; forget the search once the cap is of no effect."""
        cap = self._caps.pop(kind, self._records_max)
        if 2 * cap < self._records_max:
            self._caps[kind] = 2 * cap
