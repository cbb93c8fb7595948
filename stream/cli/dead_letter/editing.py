"""`dead-letters edit`: one value changed, looked at, and sent back once."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, NamedTuple

from stream.cli.dead_letter.check_value import fault_of
from stream.cli.dead_letter.editor import edit, without_added_end
from stream.config.settings import Settings
from stream.replay.find import FoundLetter

_Judged = Literal["right", "wrong", "empty", "same"]
#: How the command ends where nothing is sent.
_CODES: Final[dict[_Judged, int]] = {"same": 0, "empty": 1, "wrong": 2}
QUESTION: Final = "[e]dit again, [s]end it as it is, or give up? "


class Editing(NamedTuple):
    """How one value is edited."""

    settings: Settings
    #: Send what is wrong too.
    force: bool
    #: Asks a person; None: there is none.
    ask: Callable[[str], str] | None
    #: Sends the new value; the exit code.
    send: Callable[[bytes], int]


def from_file(editing: Editing, found: FoundLetter, before: bytes, value: bytes) -> int:
    """The new value is there already; the exit code."""
    value = without_added_end(value, before)
    judged = _judge(editing, found, before, value)
    return editing.send(value) if judged == "right" else _CODES[judged]


def in_editor(editing: Editing, found: FoundLetter, before: bytes, editor: str) -> int:
    """Until the value is right, or somebody decides; the exit code. EditorFailed, UsageError.

    The file is ours alone to read. Where an edited value was not sent it stays, and is named: it may be an hour's work.
    """
    folder = Path(tempfile.mkdtemp(prefix="headrace-edit-"))
    path = folder / "value.json"
    code = _CODES["empty"]
    try:
        path.write_bytes(before)
        code = _edit_until_decided(editing, found, before, editor, path)
    finally:
        if code == 0 or path.read_bytes() in (before, b""):
            shutil.rmtree(folder)
        else:
            _tell(f"what was edited is kept in {path}")
    return code


def _edit_until_decided(editing: Editing, found: FoundLetter, before: bytes, editor: str, path: Path) -> int:
    while True:
        edit(editor, path)
        value = without_added_end(path.read_bytes(), before)
        judged = _judge(editing, found, before, value)
        answer = _answer(editing) if judged == "wrong" else ""
        if judged == "right" or answer == "s":
            return editing.send(value)
        if answer != "e":
            return _CODES[judged]


def _judge(editing: Editing, found: FoundLetter, before: bytes, value: bytes) -> _Judged:
    """Told on stderr where it is not right."""
    if not value.strip():
        _tell("the value is empty: nothing is sent")
        return "empty"
    if value == before:
        _tell("the value is unchanged: nothing is sent (`replay` sends it as it is)")
        return "same"
    fault = fault_of(value, found.letter.source.topic, editing.settings)
    if fault is None:
        return "right"
    if editing.force:
        _tell(f"sent all the same: {fault}")
        return "right"
    _tell(f"the value is not right, and would come back as a dead letter: {fault}")
    return "wrong"


def _answer(editing: Editing) -> str:
    if editing.ask is None:
        _tell("--force sends it as it is")
        return ""
    try:
        return editing.ask(QUESTION).strip().lower()[:1]
    except EOFError:
        return ""


def _tell(words: str) -> None:
    print(f"headrace: {words}", file=sys.stderr, flush=True)
