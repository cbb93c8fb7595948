"""Options that several commands share, and the values they take."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from schemas.source import Source
from stream.client.installation import DEFAULT_STATE_DIR, Installation, open_installation
from stream.log.base import Partition

#: Upper end of every --timeout: a week, in seconds.
TIMEOUT_S_MAX: Final = 7 * 24 * 3600.0
SLOT_MAX: Final = 9999


def installation_options() -> argparse.ArgumentParser:
    """-c and --state-dir: how a command finds the installation."""
    parser = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
    parser.add_argument("-c", "--config", type=Path, metavar="FILE", help="the configuration (TOML)")
    parser.add_argument(
        "--state-dir", type=Path, metavar="DIR", help=f"an installation's state (default {DEFAULT_STATE_DIR})"
    )
    return parser


def find_installation(arguments: argparse.Namespace) -> Installation:
    """By -c, else --state-dir, else ./.headrace; ConfigError or UsageError says what is wrong."""
    return open_installation(
        getattr(arguments, "config", None), getattr(arguments, "state_dir", DEFAULT_STATE_DIR)
    )


def json_option() -> argparse.ArgumentParser:
    """--json, for every command that lists."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--json", action="store_true", help="for programs: JSON on stdout")
    return parser


def timeout_option(default_s: float) -> argparse.ArgumentParser:
    """--timeout in seconds: what is not done by then ends with exit code 3."""
    parser = argparse.ArgumentParser(add_help=False)
    text = f"seconds, then exit code 3 (default {default_s:g})"
    parser.add_argument("--timeout", type=seconds, default=default_s, metavar="S", help=text)
    return parser


def seconds(text: str) -> float:
    """A time limit: more than 0, at most a week."""
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 < value <= TIMEOUT_S_MAX:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a number of seconds, more than 0 and at most a week"
        )
    return value


def positive(text: str) -> int:
    """A number of things: 1 or more."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, 1 or more")
    return int(text)


def slot(text: str) -> int:
    """The number of one instance of a role."""
    if not text.isdecimal() or int(text) > SLOT_MAX:
        raise argparse.ArgumentTypeError(f"{text!r} is not a slot: a whole number from 0 to {SLOT_MAX}")
    return int(text)


def source(text: str) -> Source:
    """TOPIC/PARTITION/OFFSET."""
    try:
        return Source.parse(text)
    except ValueError as wrong:
        raise argparse.ArgumentTypeError(f"{text!r} is not TOPIC/PARTITION/OFFSET") from wrong


def offsets(text: str) -> tuple[int, int]:
    """FROM-TO, both included; one offset alone stands for both."""
    first, dash, last = text.partition("-")
    last = last if dash else first
    if not (first.isdecimal() and last.isdecimal()) or int(first) > int(last):
        raise argparse.ArgumentTypeError(f"{text!r} is not FROM-TO, two offsets, the lower one first")
    return int(first), int(last)


def partition(text: str) -> Partition:
    """TOPIC/PARTITION."""
    topic, slash, number = text.rpartition("/")
    if not slash or not topic or not number.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not TOPIC/PARTITION")
    return Partition(topic, int(number))
