"""How a command ends: its exit code, and at most a few clear words on stderr."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Final

from cache.errors import CacheError
from schemas.errors import SchemasError
from stream.cli.logs import log_nowhere
from stream.cli.parser import parse
from stream.errors import StreamError
from workers.errors import WorkersError

EXIT_DONE: Final = 0
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_SIGINT: Final = 130


def run_command(arguments: Sequence[str]) -> int:
    """Run one command line. Expected errors are told, not thrown; a programmer's error crashes loudly."""
    log_nowhere()
    _print_anything()
    try:
        command, parsed = parse(arguments)
        return command(parsed)
    except StreamError as error:
        return tell(error, error.exit_code)
    except (SchemasError, CacheError, WorkersError) as error:
        return tell(error, EXIT_FAILED)
    except BrokenPipeError:
        return reader_left()
    except OSError as error:
        return tell(error, EXIT_FAILED)
    except KeyboardInterrupt:
        return EXIT_SIGINT
    except SystemExit as told:
        # argparse ends so after --help and --version, always with a number
        return int(told.code or EXIT_DONE)


def _print_anything() -> None:
    """Whatever the terminal's encoding lacks goes out as an escape: a stream of results must not end for a character."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def tell(error: Exception, code: int) -> int:
    """The error's words on stderr."""
    print(f"headrace: {str(error) or type(error).__name__}", file=sys.stderr)
    return code


def reader_left() -> int:
    """`headrace consume … | head`: whoever read us has enough. Nothing may be flushed to them at exit either."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return EXIT_DONE
