"""The configuration as every command reads it: checked whole, the Kafka client's settings by the client itself."""

from __future__ import annotations

import re
from pathlib import Path

from stream.config.load import load_settings
from stream.config.settings import Settings
from stream.config.toml_lines import lines_of_keys
from stream.errors import ConfigError
from stream.log.kafka.settings_check import client_problems


def checked_settings(path: Path | None) -> Settings:
    """ConfigError with everything that is wrong with the file."""
    settings = load_settings(path)
    problems = client_problems(settings.kafka.client) if settings.kafka is not None else []
    if path is not None and problems:
        placed = sorted((_line(path, problem), problem) for problem in problems)
        raise ConfigError("\n".join(f"{path}:{line}: [kafka] client: {problem}" for line, problem in placed))
    return settings


def _line(path: Path, problem: str) -> int:
    """Of the key that the client's words name in quotes, else of the table."""
    lines = lines_of_keys(path.read_text("utf-8-sig"))
    named = [("kafka", "client", name) for name in re.findall(r'"([^"]+)"', problem)]
    return next(lines[key] for key in (*named, ("kafka", "client")) if key in lines)
