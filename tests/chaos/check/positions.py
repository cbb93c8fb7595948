"""I3 to I6: what readers saw, and what groups committed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from tests.chaos.check.evidence import Evidence, Progress, Violation


def same_for_both_readers(evidence: Evidence) -> Iterator[Violation]:
    """I3: a reader that was there all the time saw what one sees afterwards, in the same order."""
    for place in evidence.final.keys() | evidence.concurrent.keys():
        then, now = list(evidence.concurrent.get(place, ())), list(evidence.final.get(place, ()))
        if then != now:
            at = next(
                (i for i, (a, b) in enumerate(zip(then, now, strict=False)) if a != b),
                min(len(then), len(now)),
            )
            yield Violation(
                "I3", f"{place}: {len(then)} records read during the run, {len(now)} after it; differ at {at}"
            )


def committed_to_the_end(evidence: Evidence) -> Iterator[Violation]:
    """I4: every group's offset is its partition's end, with nothing above it."""
    for (group, topic, partition), samples in evidence.progress.items():
        end = evidence.ends[topic, partition].high
        last = samples[-1] if samples else Progress(0, frozenset())
        if end and (last.base != end or last.done):
            what = f"{group} committed {last.base} (+{len(last.done)} above) of {topic}/{partition}, its end is {end}"
            yield Violation("I4", what)


def progress_only_grows(evidence: Evidence) -> Iterator[Violation]:
    """I5: what once was committed as done stays done."""
    for (group, topic, partition), samples in evidence.progress.items():
        for before, after in pairwise(samples):
            undone = [offset for offset in before.done if not after.has(offset)]
            if after.base < before.base or undone:
                what = f"{group} {topic}/{partition} went from {before.base} to {after.base}, undone: {sorted(undone)[:5]}"
                yield Violation("I5", what)


def nothing_hangs(evidence: Evidence) -> Iterator[Violation]:
    """I6: the last stable offset is the high watermark, everywhere."""
    for (topic, partition), ends in evidence.ends.items():
        if ends.stable != ends.high:
            yield Violation(
                "I6", f"{topic}/{partition}: last stable offset {ends.stable}, high watermark {ends.high}"
            )
