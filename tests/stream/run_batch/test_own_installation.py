"""The installation that a batch starts for itself, as far as no broker is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from stream.errors import StreamError
from stream.run_batch.own_installation import UP_LOG, OwnInstallation


def test_one_that_does_not_start_is_told_with_its_last_words(tmp_path: Path) -> None:
    config = tmp_path / "wrong.toml"
    config.write_text("[endpoints.x]\nengin = 'vllm'\n")
    own = OwnInstallation(config, tmp_path / "state")
    try:
        with pytest.raises(StreamError, match="ended with status 2; the same command goes on") as told:
            own.wait_ready(lambda words: None, lambda: False)
        assert "engin" in str(told.value)
    finally:
        own.stop()


def test_a_wish_to_stop_ends_the_waiting(tmp_path: Path) -> None:
    own = OwnInstallation(None, tmp_path / "state")
    try:
        with pytest.raises(KeyboardInterrupt):
            own.wait_ready(lambda words: None, lambda: True)
    finally:
        own.stop()


def test_a_ready_of_an_earlier_run_counts_for_nothing(tmp_path: Path) -> None:
    log = tmp_path / "state" / UP_LOG
    log.parent.mkdir()
    log.write_text("ready bootstrap=nowhere\n")
    config = tmp_path / "missing.toml"
    own = OwnInstallation(config, tmp_path / "state")
    try:
        with pytest.raises(StreamError, match="ended with status 2"):
            own.wait_ready(lambda words: None, lambda: False)
    finally:
        own.stop()
