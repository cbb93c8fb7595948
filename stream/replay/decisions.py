"""The three ways to end a dead letter: its original goes back, an edited value goes back, or it is closed. Each once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from stream.config.settings import Settings
from stream.log.base import Log
from stream.replay.find import FoundLetter, Wanted, find_dead_letters
from stream.replay.markers import REASON_CHARS_MAX, Kind
from stream.replay.once import REAL, Once, Seams, batches, once
from stream.replay.original import CannotReplay, Originals
from stream.replay.steps_transaction import Done, Step
from stream.replay.superseded import superseded


def replay(
    log: Log,
    settings: Settings,
    wanted: Wanted,
    *,
    again: bool = False,
    dry_run: bool = False,
    seams: Seams = REAL,
) -> Iterator[Done]:
    """Put originals back in the order they died; each is told once it is committed.

    `again`: also what was replayed or closed before, of a record that died again its newest letter. LogFenced: another
    command has started; LogError, LogTimeout.
    """
    with once(log, settings, seams, again=again, dry_run=dry_run) as turn:
        originals = Originals(log, settings)
        newer = superseded(log, settings, turn.markers) if again else {}

        def step(found: FoundLetter) -> Step | Done:
            if found.place in newer:
                return Done(found, "already", f"its record died again: dead letter {newer[found.place]}")
            return _back(found, originals, None)

        yield from _each(log, settings, wanted, turn, step)


def resolve(
    log: Log,
    settings: Settings,
    wanted: Wanted,
    reason: str,
    *,
    dry_run: bool = False,
    seams: Seams = REAL,
) -> Iterator[Done]:
    """Close what is wanted: nothing goes back, and no replay takes it unless asked to with `again`."""
    with once(log, settings, seams, dry_run=dry_run) as turn:

        def step(found: FoundLetter) -> Step | Done:
            return Step(found, Kind.CLOSED, reason=reason[:REASON_CHARS_MAX])

        yield from _each(log, settings, wanted, turn, step)


def send_edited(
    log: Log,
    settings: Settings,
    found: FoundLetter,
    value: bytes,
    *,
    again: bool = False,
    seams: Seams = REAL,
) -> Done:
    """Put one back with another value; its key and headers stay."""
    with once(log, settings, seams, again=again) as turn:
        step = turn.earlier(found) or _back(found, Originals(log, settings), value)
        if isinstance(step, Done):
            return step
        [done] = turn.commit([step])
        return done


def _each(
    log: Log, settings: Settings, wanted: Wanted, turn: Once, decide: Callable[[FoundLetter], Step | Done]
) -> Iterator[Done]:
    letters = find_dead_letters(log, settings, wanted)
    for each in batches(turn.earlier(found) or decide(found) for found in letters):
        if isinstance(each, Done):
            yield each
        else:
            yield from turn.commit(each)


def _back(found: FoundLetter, originals: Originals, value: bytes | None) -> Step | Done:
    """`value`: in the place of the original's."""
    try:
        back = originals.output(found.letter)
    except CannotReplay as why:
        return Done(found, "refused", str(why))
    if value is None:
        return Step(found, Kind.REPLAYED, back)
    return Step(found, Kind.EDITED, back._replace(value=value))
