"""`dead-letters` on the log in memory: what it prints, and how it ends."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from stream.cli.dead_letters import act, add_parser
from stream.client.installation import Installation
from tests.stream.cli.conftest import Ended
from tests.stream.client.in_memory import InMemory


class Desk:
    """One installation, and the command that is typed at it."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.here = InMemory()
        self._capsys = capsys
        self._installation = Installation(self.here.settings, None, Path(), {})

    def run(self, *words: str) -> Ended:
        self._capsys.readouterr()
        code = act(self._installation, self.here.log, _parsed(words))
        return Ended(code, *self._capsys.readouterr())

    def lines(self, *words: str) -> list[dict[str, Any]]:
        """Each letter as --json tells it; the counts come last."""
        return [json.loads(line) for line in self.run("list", "--json", *words).out.splitlines()]

    def states(self, *words: str) -> list[str]:
        return [told["state"] for told in self.lines(*words)[:-1]]


def _parsed(words: tuple[str, ...]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    return parser.parse_args(["dead-letters", *words])
