"""`headrace`, also as `python -m stream`."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line (default: this process's own); the exit code (docs/reference.md)."""
    # A Ctrl-C while the commands are being imported: as a signal ends a process, not with a traceback.
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from stream.cli.ending import run_command  # noqa: PLC0415

    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, before)
    return run_command(sys.argv[1:] if arguments is None else arguments)


if __name__ == "__main__":
    sys.exit(main())
