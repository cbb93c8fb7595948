"""`headrace config check FILE`: every finding as `file:line: what, nearest right name`; exit 2 when there is one."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import psutil

from stream.cli.options import installation_options
from stream.cli.parser import Commands
from stream.client.installation import DEFAULT_STATE_DIR
from stream.client.settings import checked_settings
from stream.config.engine_options import known_options, unknown
from stream.config.placed import Remark, remarks
from stream.config.settings import Settings
from stream.config.toml_lines import lines_of_keys
from stream.errors import ConfigError, LogError, LoginRefused, UsageError
from stream.log.kafka.log import kafka_log
from stream.process_context import ProcessContext

EXIT_FOUND: Final = 2
CONNECT_S: Final = 10.0


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("config")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    check = actions.add_parser(
        "check",
        parents=[installation_options()],
        help="print all that is wrong in it, without starting anything",
    )
    check.add_argument("file", type=Path, nargs="?", metavar="FILE", help="default: the file of -c")
    text = f"ask the broker and the registry too, at most {CONNECT_S:g} s each"
    check.add_argument("--connect", action="store_true", help=text)


def run(arguments: argparse.Namespace) -> int:
    path: Path | None = arguments.file or getattr(arguments, "config", None)
    if path is None:
        raise UsageError("which file? headrace config check FILE")
    try:
        settings = checked_settings(path)
    except ConfigError as wrong:
        print(wrong)
        return wrong.exit_code
    found = [*_options(settings), *remarks(settings, psutil.virtual_memory().total, _hub())]
    if arguments.connect:
        found += _reached(settings)
    _print(path, found)
    if any(remark.error for remark in found):
        return EXIT_FOUND
    print(f"{path}: ok ({len(settings.inputs)} inputs, {len(settings.endpoints)} endpoints)")
    return 0


def _print(path: Path, found: Sequence[Remark]) -> None:
    lines = lines_of_keys(path.read_text("utf-8-sig"))
    for remark in found:
        line = next(
            (
                lines[remark.path[:end]]
                for end in range(len(remark.path), 0, -1)
                if remark.path[:end] in lines
            ),
            1,
        )
        print(f"{path}:{line}: {'' if remark.error else 'warning: '}{remark.words}")


def _options(settings: Settings) -> Iterator[Remark]:
    endpoints = [each for each in settings.endpoints.values() if each.engine == "vllm" and each.options]
    known = known_options() if endpoints else frozenset()
    for endpoint in endpoints:
        for words in unknown(endpoint.options, known):
            yield Remark(("endpoints", endpoint.name, "options"), words)


def _hub() -> Path:
    """Where the hub's client keeps what it downloads."""
    home = os.environ.get("HF_HOME")
    named = os.environ.get("HF_HUB_CACHE")
    return Path(named) if named else (Path(home) if home else Path.home() / ".cache" / "huggingface") / "hub"


def _reached(settings: Settings) -> Iterator[Remark]:
    """A remark for each that does not answer."""
    if settings.kafka is not None:
        place = ProcessContext(
            settings.kafka.bootstrap_servers, DEFAULT_STATE_DIR, "check", settings.kafka.client
        )
        try:
            kafka_log(place).admin().topics(CONNECT_S)
        except LoginRefused as refused:
            yield Remark(("kafka", "client"), str(refused))
        except LogError as silent:
            words = f"no answer from the broker at {settings.kafka.bootstrap_servers}: {silent}"
            yield Remark(("kafka", "bootstrap_servers"), words)
    if settings.registry_url is not None:
        import httpx  # noqa: PLC0415 - it takes as long as all else, and few have a registry

        try:
            httpx.get(f"{settings.registry_url.rstrip('/')}/subjects", timeout=CONNECT_S).raise_for_status()
        except httpx.HTTPError as silent:
            words = f"the registry at {settings.registry_url} does not answer as one: {silent}"
            yield Remark(("registry", "url"), words)
