"""How many records go together while some cannot be delivered: half as many after a failure, twice after a success."""

from __future__ import annotations


class Halving:
    """Whatever fails stands alone after log2(n) failures, for a transaction takes a prefix. Pure."""

    def __init__(self, records_max: int) -> None:
        self._records_max = records_max
        self.cap = records_max

    @property
    def searching(self) -> bool:
        """Something failed, and the cap is not back where it was."""
        return self.cap < self._records_max

    def failed(self, records: int) -> None:
        """A transaction of so many could not be delivered."""
        self.cap = max(1, records // 2)

    def succeeded(self) -> None:
        self.cap = min(self._records_max, 2 * self.cap)

    def reset(self) -> None:
        """What failed is not ours any more."""
        self.cap = self._records_max
