"""The folder that paths in a configuration are relative to: the file's own, or for a copy that of its original."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

#: The last line of a copy. A comment: the lines of all keys stay as they were.
NOTE: Final = "# The paths in this copy are relative to "
#: What makes a text a path without a look at the disk.
RELATIVE: Final = ("./", "../")


def folder_of(path: Path, content: str) -> Path:
    """Absolute, so that it does not matter where a process stands."""
    return _noted(content) or path.parent.absolute()


def with_folder(content: str, path: Path) -> str:
    """The same configuration, to be put anywhere."""
    if _noted(content):
        return content
    body = content if content.endswith("\n") or not content else f"{content}\n"
    return f"{body}{NOTE}{json.dumps(str(folder_of(path, content)), ensure_ascii=False)}\n"


def _noted(content: str) -> Path | None:
    last = content.rstrip().rpartition("\n")[2]
    found = re.fullmatch(re.escape(NOTE) + r'(".*")', last)
    return Path(json.loads(found[1])) if found else None


def path_in(folder: Path, text: str) -> str:
    """`text` where it is no relative path; else that path seen from `folder`."""
    return str(folder / text) if text.startswith(RELATIVE) else text


def model_in(folder: Path, name: str) -> str:
    """A model's name, or its folder: `./x`, or `a/b` where there is such a folder (else that is a hub name)."""
    beside = folder / name
    return str(beside) if name.startswith(RELATIVE) or ("/" in name and beside.is_dir()) else name


def paths_in(folder: Path, value: Any) -> Any:
    """The options of an engine with each text that begins with `./` or `../` as a path seen from `folder`."""
    if isinstance(value, str):
        return path_in(folder, value)
    if isinstance(value, dict):
        return {key: paths_in(folder, each) for key, each in value.items()}
    return [paths_in(folder, each) for each in value] if isinstance(value, list) else value
