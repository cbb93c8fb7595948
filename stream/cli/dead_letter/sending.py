"""`dead-letters replay`, `resolve` and `edit`: what is done about dead letters, told one by one."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable
from typing import Final

from stream.cli.dead_letter.editing import Editing, from_file, in_editor
from stream.client.installation import Installation
from stream.errors import UsageError
from stream.log.base import Log
from stream.replay.decisions import replay, resolve, send_edited
from stream.replay.find import FoundLetter, Wanted, find_dead_letters
from stream.replay.once import once
from stream.replay.original import Originals
from stream.replay.steps_transaction import Done

#: So many of one name are named.
NAMED_MAX: Final = 10
_WORDS: Final = {"already": "was replayed before", "was closed": "was closed before"}


def replay_letters(found: Installation, log: Log, wanted: Wanted, arguments: argparse.Namespace) -> int:
    done = replay(log, found.settings, wanted, again=arguments.again, dry_run=arguments.dry_run)
    return _tell_each(done, "replayed", arguments)


def resolve_letters(found: Installation, log: Log, wanted: Wanted, arguments: argparse.Namespace) -> int:
    if wanted.everything and not arguments.all:
        raise UsageError("which dead letters? name one, or give filters, or --all")
    done = resolve(log, found.settings, wanted, arguments.reason, dry_run=arguments.dry_run)
    return _tell_each(done, "closed", arguments)


def edit_letter(found: Installation, log: Log, wanted: Wanted, arguments: argparse.Namespace) -> int:
    """One letter; its name must be no other's that is open."""
    letter = _only_one(log, found, wanted, again=arguments.again)
    if letter is None:
        print(f"headrace: no dead letter {wanted.name!r}", file=sys.stderr)
        return 1
    if isinstance(letter, Done):
        return _tell_edited(letter, arguments)

    def send(value: bytes) -> int:
        done = send_edited(log, found.settings, letter, value, again=arguments.again)
        return _tell_edited(done, arguments)

    before = Originals(log, found.settings).output(letter.letter).value or b""
    asking = sys.stdin.isatty() and sys.stdout.isatty()
    editing = Editing(found.settings, arguments.force, input if asking else None, send)
    if arguments.value is not None:
        return from_file(editing, letter, before, arguments.value.read_bytes())
    editor = os.environ.get("EDITOR")
    if not editor:
        raise UsageError("no editor: set EDITOR, or give the new value with --value FILE")
    return in_editor(editing, letter, before, editor)


def _tell_edited(done: Done, arguments: argparse.Namespace) -> int:
    print(json.dumps(_as_json(done)) if arguments.json else _as_text(done, "edited"))
    return 0 if done.outcome == "edited" else 1


def _only_one(log: Log, found: Installation, wanted: Wanted, *, again: bool) -> FoundLetter | Done | None:
    """The one of this name that nothing was decided about; else what was decided about the last of them."""
    with once(log, found.settings, again=again, dry_run=True) as look:
        decided: Done | None = None
        open_: list[FoundLetter] = []
        for letter in find_dead_letters(log, found.settings, wanted):
            earlier = look.earlier(letter)
            decided = earlier or decided
            if earlier is None and len(open_) < NAMED_MAX:
                open_.append(letter)
    if len(open_) > 1:
        named = ", ".join(letter.place for letter in open_)
        raise UsageError(
            f"dead letters {named} are all named {wanted.name!r}: name one by its PARTITION/OFFSET"
        )
    return open_[0] if open_ else decided


def _tell_each(done: Iterable[Done], verb: str, arguments: argparse.Namespace) -> int:
    told: Counter[str] = Counter()
    for one in done:
        told[one.outcome] += 1
        print(json.dumps(_as_json(one)) if arguments.json else _as_text(one, verb), flush=True)
    if not arguments.json:
        count = told["would"] + told[verb]
        closed = f", {told['was closed']} were closed before" if told["was closed"] else ""
        words = f"would be {verb}" if arguments.dry_run else verb
        print(f"{count} {words}, {told['already']} were replayed before{closed}, {told['refused']} refused")
    return 1 if told["refused"] else 0


def _as_json(one: Done) -> dict[str, str | None]:
    return {
        "letter": one.found.place,
        "source": str(one.found.letter.source),
        "outcome": one.outcome,
        "why": one.why or None,
    }


def _as_text(one: Done, verb: str) -> str:
    outcome = {**_WORDS, "would": f"would be {verb}"}.get(one.outcome, one.outcome)
    return f"{one.found.letter.source}  {outcome}{': ' if one.why else ''}{one.why}"
