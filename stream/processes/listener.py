"""Who listens on a port of this machine, for words about a port that is taken."""

from __future__ import annotations

import psutil


def listener_of(port: int) -> str:
    """` by NAME (pid N)`; nothing where the kernel does not tell us, as of another user's process."""
    try:
        found = psutil.net_connections("tcp")
        pid = next(
            (each.pid for each in found if each.status == psutil.CONN_LISTEN and each.laddr.port == port),
            None,
        )
        return "" if pid is None else f" by {psutil.Process(pid).name()} (pid {pid})"
    except psutil.Error:
        return ""
