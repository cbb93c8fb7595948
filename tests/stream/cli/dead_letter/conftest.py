"""A desk for each test."""

from __future__ import annotations

import pytest

from tests.stream.cli.dead_letter.desk import Desk


@pytest.fixture
def desk(capsys: pytest.CaptureFixture[str]) -> Desk:
    return Desk(capsys)
