"""Answers as they come, awaited by the source or by the custom_id of their requests."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Final, Self

from schemas.source import Source
from stream.client.answer import Answer, answer_of
from stream.client.errors import AnswersMissing
from stream.errors import UsageError
from stream.log.base import LogReader

#: Answers that nobody has asked for yet; beyond it the oldest are forgotten.
KEPT_MAX: Final = 10_000
#: Of one wait; more are a feed's.
AWAITED_MAX: Final = 100_000
POLL_RECORDS_MAX: Final = 1_000
POLL_S: Final = 0.25

_NameOf = Callable[[Answer], str | None]


class Answers:
    """Made by `Client.answers` before the requests are sent; a context, for one thread."""

    def __init__(self, reader: LogReader, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._reader = reader
        self._clock_s = clock_s
        #: By source: what came, and was not handed out.
        self._kept: OrderedDict[str, Answer] = OrderedDict()
        #: How many were forgotten before anybody asked for them.
        self.forgotten = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._reader.close()

    def by_source(self, sources: Iterable[Source | str], timeout_s: float) -> dict[str, Answer]:
        """The answers to these requests, in their order; AnswersMissing, with those that came, after `timeout_s`."""
        return self._await([str(source) for source in sources], lambda answer: answer.source, timeout_s)

    def by_custom_id(self, custom_ids: Iterable[str], timeout_s: float) -> dict[str, Answer]:
        """As `by_source`. Of two requests with one custom_id the first answer counts."""
        return self._await(list(custom_ids), lambda answer: answer.custom_id, timeout_s)

    def come(self, timeout_s: float) -> list[Answer]:
        """Whatever was not handed out yet, else what one look gives: none after `timeout_s`."""
        kept = list(self._kept.values())
        self._kept.clear()
        return kept or self._poll(timeout_s)

    def _poll(self, wait_s: float) -> list[Answer]:
        records = self._reader.poll(POLL_RECORDS_MAX, wait_s).records
        return [answer for record in records if (answer := answer_of(record)) is not None]

    def _await(self, wanted: Sequence[str], name_of: _NameOf, timeout_s: float) -> dict[str, Answer]:
        if len(wanted) > AWAITED_MAX:
            raise UsageError(
                f"{len(wanted)} answers are awaited at once, at most {AWAITED_MAX} may be: use a feed"
            )
        names = frozenset(wanted)
        found: dict[str, Answer] = {}
        self._hand_out(names, name_of, found)
        until_s = self._clock_s() + timeout_s
        while len(found) < len(names):
            left_s = until_s - self._clock_s()
            if left_s <= 0:
                self._keep(found.values())
                missing = [name for name in dict.fromkeys(wanted) if name not in found]
                raise AnswersMissing(_ordered(found, wanted), missing, timeout_s)
            self._look(names, name_of, found, min(POLL_S, left_s))
        return _ordered(found, wanted)

    def _look(self, names: frozenset[str], name_of: _NameOf, found: dict[str, Answer], wait_s: float) -> None:
        others = []
        for answer in self._poll(wait_s):
            name = name_of(answer)
            if name in names and name not in found:
                found[name] = answer
            else:
                others.append(answer)
        self._keep(others)

    def _hand_out(self, names: frozenset[str], name_of: _NameOf, found: dict[str, Answer]) -> None:
        for answer in list(self._kept.values()):
            name = name_of(answer)
            if name in names and name not in found:
                found[name] = self._kept.pop(answer.source)

    def _keep(self, answers: Iterable[Answer]) -> None:
        for answer in answers:
            self._kept[answer.source] = answer
        while len(self._kept) > KEPT_MAX:
            self._kept.popitem(last=False)
            self.forgotten += 1


def _ordered(found: Mapping[str, Answer], wanted: Sequence[str]) -> dict[str, Answer]:
    return {name: found[name] for name in wanted if name in found}
