"""The map of a partition after an operator passed some of its offsets: they are done, all else stays as it was. Pure."""

from __future__ import annotations

from stream.errors import UsageError
from stream.exactly_once.offset_map import OffsetMap, open_records_bound


def passed(found: OffsetMap, first: int, last: int) -> OffsetMap:
    """UsageError where so much before `first` is not done that no map could name it."""
    unsaid = range(max(found.base, found.hi + 1), first)
    bound = open_records_bound(last - found.base)
    if len(unsaid) > bound:
        raise UsageError(
            f"{len(unsaid)} offsets before {first} are not done, {bound} can be named: wait for them"
        )
    left = [offset for offset in found.incomplete if not first <= offset <= last]
    incomplete = tuple(sorted({*left, *unsaid}))
    hi = max(found.hi, last)
    trying = None if found.trying is not None and first <= found.trying <= last else found.trying
    if not incomplete:
        return OffsetMap(hi + 1, hi, (), found.deaths, trying)
    return OffsetMap(incomplete[0], hi, incomplete, found.deaths, trying)
