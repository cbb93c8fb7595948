"""Where log lines go: to stderr for the long-running commands, nowhere for the others, which tell what matters."""

from __future__ import annotations

import logging

from stream.cli.log_throttle import LogThrottle


def log_to_stderr() -> None:
    """From INFO on, with time and place. stdout is for what a program may read."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    for handler in logging.getLogger().handlers:
        if not any(isinstance(each, LogThrottle) for each in handler.filters):
            handler.addFilter(LogThrottle())


def log_nowhere() -> None:
    """Without it, Python prints a client's warnings between a command's own words. Handlers set later still work."""
    ours = logging.getLogger("stream")
    if not ours.handlers:
        ours.addHandler(logging.NullHandler())
