"""`headrace`, also as `python -m stream`."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from stream.cli.ending import run_command


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (default: this process's own); the exit code, as in contract.md 5."""
    return run_command(sys.argv[1:] if arguments is None else arguments)


if __name__ == "__main__":
    sys.exit(main())
