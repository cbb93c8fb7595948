"""What was set aside is trusted only when somebody wrote anew, and taken over last."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import pytest

from stream.errors import LogTimeout
from stream.exactly_once.quarantine import Readable, look_at_quarantined
from stream.log.base import Committed, LogAdmin, LogConsumer, Partition, Watermarks

ONE, TWO = Partition("t", 0), Partition("t", 1)
BEFORE = Committed(7, "not a map")


class Log:
    """A consumer and an admin in one; notes what is done with them."""

    def __init__(self, committed: Mapping[Partition, Committed | None], *, seeks: bool = True) -> None:
        self.done: list[tuple[str, Any]] = []
        self._committed = committed
        self._seeks = seeks

    def committed(
        self, places: Sequence[Partition], timeout_s: float
    ) -> Mapping[Partition, Committed | None]:
        return {place: self._committed[place] for place in places}

    def watermarks(self, places: Sequence[Partition], timeout_s: float) -> Mapping[Partition, Watermarks]:
        return dict.fromkeys(places, Watermarks(0, 10))

    def seek(self, place: Partition, offset: int) -> None:
        if not self._seeks:
            raise LogTimeout("seek")
        self.done.append(("seek", (place, offset)))

    def resume(self, places: Sequence[Partition]) -> None:
        self.done.append(("resume", places))

    def look(
        self, distrusted: Mapping[Partition, Committed | None], trusts: Callable[[Committed], bool]
    ) -> None:
        def judge(place: Partition, found: Committed | None, marks: Watermarks) -> Readable | None:
            assert found is not None
            readable = Readable(found.offset, partial(self.done.append, ("own", place)))
            return readable if trusts(found) else None

        look_at_quarantined(cast(LogConsumer, self), cast(LogAdmin, self), distrusted, judge, 1.0)


def test_what_nobody_wrote_anew_is_not_even_judged() -> None:
    log = Log({ONE: BEFORE})
    log.look({ONE: BEFORE}, lambda _: pytest.fail("judged"))
    assert log.done == []


def test_what_was_written_anew_and_can_be_trusted_is_read_again() -> None:
    log = Log({ONE: Committed(9, "map"), TWO: BEFORE})
    log.look({ONE: BEFORE, TWO: BEFORE}, lambda _: True)
    assert log.done == [("seek", (ONE, 9)), ("resume", [ONE]), ("own", ONE)]


def test_what_was_written_anew_and_cannot_be_trusted_stays() -> None:
    log = Log({ONE: Committed(9, "no map either")})
    log.look({ONE: BEFORE}, lambda _: False)
    assert log.done == []


def test_what_cannot_be_sought_is_not_taken_over() -> None:
    log = Log({ONE: Committed(9, "map")}, seeks=False)
    with pytest.raises(LogTimeout):
        log.look({ONE: BEFORE}, lambda _: True)
    assert log.done == []
