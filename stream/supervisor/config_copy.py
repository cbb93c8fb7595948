"""The configuration in use, kept in the state directory: roles and other commands read this copy.

So all processes of one `up` have the same configuration, whatever happens to the file meanwhile.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from stream.supervisor.atomic import replace_text

COPY_NAME: Final = "config.toml"
#: A schema's file is looked for beside the configuration, and the copy lies elsewhere.
SCHEMA: Final = re.compile(r"""((?:\bschema|"schema"|'schema')\s*=\s*)(["'])([^"'\n]+)\2""")


def copy_config(config: Path | None, state_dir: Path) -> Callable[[], None]:
    """Read it now; the call of what is returned writes the copy: until a start is accepted, that of an earlier one counts.

    Without one, the copy of an earlier start is removed, for then the built-in configuration runs.
    """
    copy = state_dir / COPY_NAME
    if config is None:
        return partial(copy.unlink, missing_ok=True)
    text = with_absolute_schemas(config.read_text(encoding="utf-8"), config.absolute().parent)
    is_copy = config.absolute() == copy.absolute()
    return (lambda: None) if is_copy else partial(replace_text, copy, text)


def with_absolute_schemas(text: str, folder: Path) -> str:
    """The same TOML with each schema's path seen from `folder`, where there is such a file."""

    def absolute(found: re.Match[str]) -> str:
        path = folder / found[3]
        # As a basic string, whatever quotes it had: a folder may have those in its name.
        return f"{found[1]}{json.dumps(str(path), ensure_ascii=False)}" if path.is_file() else found[0]

    return SCHEMA.sub(absolute, text)
