"""The broker's directory: who holds it, and what its log says."""

from __future__ import annotations

import errno
import fcntl
from pathlib import Path

from stream.errors import BrokerError

#: Enough of a log's end to hold its last ERROR line and the stack below it.
LOG_TAIL_BYTES = 256 * 1024
ERROR_CHARS_MAX = 500


def check_unlocked(data_dir: Path, pid_file: Path) -> None:
    """Raise BrokerError when a living broker holds the directory.

    Kafka notices by itself, but only after seconds. A crash leaves the file without its lock, which does no harm.
    The JVM's lock is a POSIX one: lockf sees it, flock does not.
    """
    try:
        with (data_dir / ".lock").open("r+b") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return
    except OSError as error:
        raise BrokerError(_why_locked(data_dir, pid_file, error)) from error


def _why_locked(data_dir: Path, pid_file: Path, error: OSError) -> str:
    # POSIX lets a lock that is taken answer EACCES as well; Linux answers EAGAIN, and EACCES when opening only.
    if error.errno != errno.EAGAIN:
        return f"{data_dir} cannot be used ({error.strerror}): mend its rights, or choose another --state-dir"
    return f"another broker holds {data_dir} (pid {_owner(pid_file)}): stop it, or choose another --state-dir"


def _owner(pid_file: Path) -> str:
    try:
        return pid_file.read_text().strip()
    except OSError:
        return "unknown"


def is_formatted(data_dir: Path) -> bool:
    """Formatting writes this file last."""
    return (data_dir / "meta.properties").exists()


def last_error(log_file: Path, since: int) -> str | None:
    """The last ERROR (or FATAL) line of the log after byte `since`, with the exceptions below it.

    None where the log cannot be read: somebody may have rotated it away.
    """
    try:
        with log_file.open("rb") as log:
            size = log.seek(0, 2)
            log.seek(max(since, size - LOG_TAIL_BYTES))
            return error_of(log.read().decode(errors="replace"))
    except OSError:
        return None


def error_of(text: str) -> str | None:
    """The last ERROR line of a log and the exceptions that its stack trace names, without the trace."""
    lines = [line.strip() for line in text.splitlines()]
    places = [place for place, line in enumerate(lines) if " ERROR " in line or " FATAL " in line]
    if not places:
        return None
    below = [line for line in lines[places[-1] + 1 :] if _names_exception(line)]
    return " | ".join([lines[places[-1]], *below])[:ERROR_CHARS_MAX]


def exceptions_of(text: str) -> str:
    """The exceptions that a stack trace names; the whole text where there is none."""
    named = [line.strip() for line in text.splitlines() if _names_exception(line.strip())]
    return (" | ".join(named) or text.strip())[:ERROR_CHARS_MAX]


def _names_exception(line: str) -> bool:
    return not line.startswith("at ") and ("Exception" in line or "Error:" in line)
