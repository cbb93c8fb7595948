"""Files and folders that nobody else may read: requests and answers may be anybody's secrets."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

FILE_MODE: Final = 0o600
FOLDER_MODE: Final = 0o700


def make_folder(path: Path) -> None:
    """Its parents are made if need be, as everybody makes them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=FOLDER_MODE, exist_ok=True)


def replace_bytes(path: Path, content: bytes) -> None:
    """A reader, and a successor after any kill or loss of power, sees the old content or the new one."""
    beside = path.with_name(f".{path.name}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def open_private(path: Path) -> int:
    """A descriptor to read and write; the file is made if need be."""
    return os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE)
