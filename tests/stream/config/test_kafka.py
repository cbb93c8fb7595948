"""`[kafka] port` and `[outputs] compression`: what they take, and what is said to what they do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from stream.config.load import load_settings
from stream.config.settings import Settings
from stream.errors import ConfigError


def test_the_embedded_brokers_port_can_be_given(tmp_path: Path) -> None:
    settings = loaded(tmp_path, "[kafka]\nport = 9092\n")
    assert (settings.kafka, settings.broker_port) == (None, 9092)


@pytest.mark.parametrize(
    ("kafka", "said"),
    [
        ('port = 9092\nbootstrap_servers = "k:1"', "with bootstrap_servers there is none"),
        ("port = 0", "must be from 1 to 65535"),
        ('port = 9092\nclient = { "client.rack" = "r" }', "the embedded one needs no settings"),
        ("", 'leave [kafka] out for the embedded broker, or give its "port"'),
    ],
)
def test_a_port_that_cannot_be_meant_is_a_finding(tmp_path: Path, kafka: str, said: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        loaded(tmp_path, f"[kafka]\n{kafka}\n")
    assert said in str(wrong.value)


def test_a_codec_that_there_is_not_is_answered_with_the_nearest(tmp_path: Path) -> None:
    assert loaded(tmp_path, '[outputs]\ncompression = "zstd"\n').outputs.compression == "zstd"
    with pytest.raises(ConfigError, match='did you mean "gzip"'):
        loaded(tmp_path, '[outputs]\ncompression = "gzp"\n')


def loaded(folder: Path, text: str) -> Settings:
    (folder / "c.toml").write_text(f'{text}[endpoints.sim]\nengine = "simulated"\n')
    return load_settings(folder / "c.toml")
