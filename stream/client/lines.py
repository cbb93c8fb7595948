"""The lines of a file, one record each, with bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, NamedTuple

from schemas.headers import Headers
from stream.errors import UsageError


class Line(NamedTuple):
    """A line that is not blank: its number from 1 on, its bytes as they are less the line's end."""

    number: int
    #: None: longer than was allowed, and skipped.
    value: bytes | None
    #: Its own key and headers; None: as all lines of a topic have them.
    beside: tuple[bytes | None, Headers] | None = None


@contextmanager
def open_lines(name: str, stdin: BinaryIO) -> Iterator[BinaryIO]:
    """The file of this name, `-` for stdin; UsageError when it cannot be read."""
    if name == "-":
        yield stdin
        return
    try:
        file = open(name, "rb")  # noqa: SIM115 (closed below; what the body raises is not ours to translate)
    except OSError as wrong:
        raise UsageError(f"{name} cannot be read: {wrong.strerror}") from wrong
    with file:
        yield file


def read_lines(file: BinaryIO, bytes_max: int) -> Iterator[Line]:
    """Every line that is not blank; one over `bytes_max` is passed over without being held in memory."""
    number = 0
    while piece := file.readline(bytes_max + 2):
        number += 1
        value = piece.removesuffix(b"\n")
        if len(value) > bytes_max:
            _skip_rest(file, piece, bytes_max)
            yield Line(number, None)
        elif value.strip():
            yield Line(number, value)


def _skip_rest(file: BinaryIO, piece: bytes, bytes_max: int) -> None:
    while piece and not piece.endswith(b"\n"):
        piece = file.readline(bytes_max)
