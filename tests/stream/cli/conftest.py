"""Running command lines in this process, and an installation on the shared broker."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from stream.__main__ import main
from stream.broker import EmbeddedBroker
from stream.config.load import load_settings
from stream.config.settings import Settings
from stream.log.kafka.log import KafkaLog
from stream.topics import ensure_topics

CONFIG = """
[headrace]
prefix = "{prefix}."
[kafka]
bootstrap_servers = "{servers}"
[inputs."{prefix}.requests"]
[outputs]
results = "{prefix}.results"
dead_letters = "{prefix}.dead-letters"
reply_topics = ["{prefix}.results", "{prefix}.replies.*"]
[endpoints.sim]
engine = "simulated"
partitions = 2
"""


class Ended(NamedTuple):
    """A command that is over."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        """stdout, each line parsed as JSON."""
        return [json.loads(line) for line in self.out.splitlines()]


Run = Callable[..., Ended]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`run("status", "--json")`: in a folder of its own, with what it printed."""
    monkeypatch.chdir(tmp_path)

    def run_line(*words: str) -> Ended:
        capsys.readouterr()
        code = main(words)
        return Ended(code, *capsys.readouterr())

    return run_line


@dataclass(frozen=True)
class Installed:
    """An installation with topics of its own on the shared broker; none of its roles runs."""

    config: Path
    settings: Settings
    log: KafkaLog

    @property
    def requests(self) -> str:
        return f"{self.settings.prefix}requests"


@pytest.fixture
def installed(kafka: EmbeddedBroker, unique: Callable[[str], str], tmp_path: Path) -> Installed:
    config = tmp_path / "headrace.toml"
    config.write_text(CONFIG.format(prefix=unique("cli"), servers=kafka.bootstrap_servers), encoding="utf-8")
    log = KafkaLog(kafka.bootstrap_servers, {})
    settings = load_settings(config)
    ensure_topics(log.admin(), settings)
    return Installed(config, settings, log)
