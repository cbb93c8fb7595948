"""The configuration in use, kept in the state directory: roles and other commands read this copy.

So all processes of one `up` have the same configuration, whatever happens to the file meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from stream.config.folder import with_folder
from stream.role.atomic_file import replace_text

COPY_NAME: Final = "config.toml"


def copy_config(config: Path | None, state_dir: Path) -> Callable[[], None]:
    """Read it now; the call of what is returned writes the copy: until a start is accepted, that of an earlier one counts.

    Without one, the copy of an earlier start is removed, for then the built-in configuration runs.
    """
    copy = state_dir / COPY_NAME
    if config is None:
        return partial(copy.unlink, missing_ok=True)
    text = with_folder(config.read_text(encoding="utf-8-sig"), config)
    is_copy = config.absolute() == copy.absolute()
    return (lambda: None) if is_copy else partial(replace_text, copy, text)
