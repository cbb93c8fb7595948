"""A value in somebody's editor, and back."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

from stream.errors import StreamError, UsageError


class EditorFailed(StreamError):
    """It did not start, or ended with an error; the message says which."""


def edit(editor: str, path: Path) -> None:
    """Let `editor`, a command line, have the file. EditorFailed where it cannot."""
    try:
        words = shlex.split(editor)
    except ValueError as wrong:
        raise UsageError(f"EDITOR={editor!r} is no command line: {wrong}") from wrong
    try:
        ended = subprocess.run([*words, str(path)], check=False)
    except OSError as wrong:
        raise EditorFailed(f"the editor {editor!r} cannot be started: {wrong}") from wrong
    if ended.returncode != 0:
        raise EditorFailed(f"the editor {editor!r} ended with {ended.returncode}: nothing is sent")


def without_added_end(edited: bytes, before: bytes) -> bytes:
    """Editors end the last line of a file; the value did not have that."""
    return edited[:-1] if edited.endswith(b"\n") and not before.endswith(b"\n") else edited
