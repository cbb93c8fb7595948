"""Files that a reader sees whole, the old one or the new one, and that only their owner reads."""

from __future__ import annotations

import os
from pathlib import Path

from workers.private_files import make_private_folder, open_private


def replace_text(path: Path, text: str) -> None:
    """Write beside it, then rename over it. The folder is made if need be."""
    make_private_folder(path.parent)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with open(beside, "w", encoding="utf-8", opener=open_private) as file:
        file.write(text)
    beside.replace(path)
