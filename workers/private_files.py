"""Files that only their owner may read, in folders that only their owner may enter, whatever the umask is.

A configuration may hold a password, and what is made from it, or says where it lies, may too.
"""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path
from typing import Final

_LOG = logging.getLogger(__name__)

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700


def make_private_folder(folder: Path) -> None:
    """Make it, and what is missing above it. A folder that was there before keeps its mode."""
    for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
        missing.mkdir(mode=FOLDER_MODE, exist_ok=True)
    folder.mkdir(exist_ok=True)  # FileExistsError where a file has its name


def open_private(path: str | Path, flags: int) -> int:
    """An `opener` of `open`, or for itself: as `os.open`, and what it makes or finds is private from then on."""
    file = os.open(path, flags, FILE_MODE)
    if stat.S_IMODE(os.fstat(file).st_mode) != FILE_MODE:
        _restrict(path, FILE_MODE)
    return file


def restrict_folder(folder: Path) -> None:
    """One of ours from before this rule: nobody else enters it any more."""
    if stat.S_IMODE(folder.stat().st_mode) != FOLDER_MODE:
        _restrict(folder, FOLDER_MODE)


def _restrict(path: str | Path, mode: int) -> None:
    """A file system without modes, or another's file, must not keep the service from its work."""
    try:
        os.chmod(path, mode)
    except PermissionError as error:
        _LOG.warning("%s may be read by others, for its mode cannot be changed: %s", path, error)
