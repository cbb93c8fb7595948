"""A producer's headers on their way through: renamed where they would meet ours, restored in the same order.

`headrace-NAME` of an input travels as `headrace-in.NAME`; a producer's own `__dlq.…` does so on dead letters only.
Names that would be read back wrongly keep their full form behind the prefix, so that restoring is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from schemas.headers import DLQ_PREFIX, KEPT_PREFIX, OWN_PREFIX, REPLAY, Header, Headers

Carried = tuple[Header, ...]

_FULL: Final = (OWN_PREFIX, DLQ_PREFIX)


def carry(headers: Sequence[Header] | None) -> Carried:
    """An input's headers as they travel on a work record; never raises."""
    if not headers:
        return ()
    given, _ = split_replay(headers)
    return tuple(
        (_kept(name), value) if name.startswith(OWN_PREFIX) else (name, value) for name, value in given
    )


def carry_dead(carried: Carried) -> Carried:
    """The same on a dead letter, whose `__dlq.errors.…` headers are ours."""
    return tuple(
        (KEPT_PREFIX + name, value) if name.startswith(DLQ_PREFIX) else (name, value)
        for name, value in carried
    )


def restore(carried: Iterable[Header]) -> Headers:
    """The producer's own headers, byte for byte and in their order."""
    return [
        (_restored(name), value) if name.startswith(KEPT_PREFIX) else (name, value) for name, value in carried
    ]


def passing(carried: Carried) -> Headers:
    """Those that go on to the result: all but the control headers."""
    return [header for header in carried if not header[0].startswith(KEPT_PREFIX)]


def kept(carried: Carried) -> Headers:
    """The control headers, under their names on the way."""
    return [header for header in carried if header[0].startswith(KEPT_PREFIX)]


def split_replay(headers: Sequence[Header]) -> tuple[Sequence[Header], int]:
    """(the producer's headers, how often the record was replayed).

    A replay adds `headrace-replay` as the last header; anywhere else, or not a number, it is the producer's and means nothing.
    """
    name, value = headers[-1]
    if name == REPLAY and value is not None and len(value) <= 9 and value.isdigit():
        return headers[:-1], int(value)
    return headers, 0


def _kept(name: str) -> str:
    rest = name[len(OWN_PREFIX) :]
    return KEPT_PREFIX + (name if rest.startswith(_FULL) else rest)


def _restored(name: str) -> str:
    rest = name[len(KEPT_PREFIX) :]
    return rest if rest.startswith(_FULL) else OWN_PREFIX + rest
