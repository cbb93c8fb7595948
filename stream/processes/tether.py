"""Ties this process to its parent, then becomes the command: `python tether.py PARENT_PID COMMAND…`.

PR_SET_PDEATHSIG survives exec. It is set here, in the child's own interpreter, and not in a `preexec_fn`, which
must not run Python after a fork of a process with threads.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

#: From linux/prctl.h.
PR_SET_PDEATHSIG = 1


def main(argv: list[str]) -> None:
    """Never returns: exec, or exit 1 when the parent has died already."""
    parent, command = int(argv[1]), argv[2:]
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:  # it died between our start and the line above: nobody would tell us
        sys.exit(1)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(sys.argv)
