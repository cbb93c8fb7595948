"""The configuration as every command reads it: checked whole, the Kafka client's settings by the client itself."""

from __future__ import annotations

from pathlib import Path

from stream.config.load import load_settings
from stream.config.settings import Settings
from stream.errors import ConfigError
from stream.log.kafka_check import client_problem


def checked_settings(path: Path | None) -> Settings:
    """ConfigError with everything that is wrong with the file."""
    settings = load_settings(path)
    problem = client_problem(settings.kafka.client) if settings.kafka is not None else None
    if problem is not None:
        raise ConfigError(f"{path}: [kafka] client: {problem}")
    return settings
