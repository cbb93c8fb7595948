"""`dead-letters list` and `show`: each with what became of it, and how many there are."""

from __future__ import annotations

import argparse
import json
import sys

from schemas.errors import NewerVersion
from stream.cli.dead_letter.lines import Counts, facts, line, paragraph, whole
from stream.cli.dead_letter.states import Became, Letters, LetterState
from stream.client.deadline import Deadline
from stream.client.installation import Installation
from stream.log.base import Log
from stream.replay.find import FoundLetter, Wanted, find_dead_letters


def list_letters(found: Installation, log: Log, wanted: Wanted, arguments: argparse.Namespace) -> int:
    """A newer version's are named, and the end is 1; where the time was too short for the look for answers, 3."""
    letters = Letters(log, found.settings, Deadline(arguments.timeout))
    newer: dict[str, NewerVersion] = {}

    def note(one: NewerVersion) -> None:
        newer[str(one)] = one

    slow = letters.look_for_answers(find_dead_letters(log, found.settings, wanted, note))
    counts = Counts()
    for letter in find_dead_letters(log, found.settings, wanted, note):
        became = letters.became(letter)
        if arguments.open and became.state is not LetterState.OPEN:
            continue
        counts.add(letter, became)
        print(_told(letter, became, arguments))
    _tell_counts(counts, arguments, nothing_else=not newer)
    for one in newer:
        print(f"headrace: {one}", file=sys.stderr)
    if slow is not None:
        raise slow
    return 1 if newer else 0


def _told(letter: FoundLetter, became: Became, arguments: argparse.Namespace) -> str:
    if arguments.json:
        return json.dumps(facts(letter, became) if arguments.action == "list" else whole(letter, became))
    if arguments.action == "list":
        return line(letter, became)
    return "\n".join([*paragraph(letter, became), ""])


def _tell_counts(counts: Counts, arguments: argparse.Namespace, *, nothing_else: bool) -> None:
    if arguments.json:
        if arguments.action == "list":
            print(json.dumps({"counts": counts.facts()}))
    elif counts.total:
        print(counts.words())
    elif nothing_else:
        print("headrace: no dead letters found", file=sys.stderr)
