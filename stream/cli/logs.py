"""Where the log lines of the long-running commands go."""

from __future__ import annotations

import logging


def log_to_stderr() -> None:
    """From INFO on, with time and place. stdout is for what a program may read."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
