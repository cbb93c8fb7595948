"""The options that say what goes beside a line's bytes: the record's key and its headers."""

from __future__ import annotations

import argparse

from schemas.headers import Headers
from stream.client.addressing import Addressing, Given
from stream.errors import UsageError


def add_addressing(parser: argparse.ArgumentParser) -> None:
    """The options for it."""
    key = parser.add_mutually_exclusive_group()
    key.add_argument("--key", help="the key of all records")
    key.add_argument("--key-field", metavar="F", help="the field that holds a record's key, dots allowed")
    add = parser.add_argument
    add("--header", action="append", default=[], type=_pair, metavar="NAME=VALUE", help="repeatable")
    help_of_fields = "a header from a field, dots allowed; repeatable"
    add("--header-field", action="append", default=[], type=_pair, metavar="NAME=FIELD", help=help_of_fields)


def addressing(arguments: argparse.Namespace, fixed: Headers, session: bytes | None) -> Addressing:
    """From the options of a command line; `fixed` and `session` are checked already."""
    header_fields: list[tuple[str, str]] = arguments.header_field
    for name, where in header_fields:
        if not where:
            raise UsageError(f"--header-field {name}= names no field")
    given: Headers = [(name, _bytes(value)) for name, value in arguments.header]
    key = None if arguments.key is None else _bytes(arguments.key)
    return Addressing(
        [*fixed, *given],
        Given(key, arguments.key_field),
        Given(session, arguments.session_field),
        header_fields,
    )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=…")
    return name, value
