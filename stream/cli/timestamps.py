"""Moments as people write them on a command line."""

from __future__ import annotations

import argparse
import re
import time
from datetime import UTC, datetime
from typing import Final

_UNIT_S: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


def moment_ms(text: str) -> int:
    """ms since the epoch from `30m`, `2h`, `3d` (ago), `2026-05-01`, `2026-05-01T12:00` (local time), or ms themselves."""
    ago = re.fullmatch(r"(\d{1,9})([smhd])", text)
    if ago:
        return int((time.time() - int(ago[1]) * _UNIT_S[ago[2]]) * 1000)
    if re.fullmatch(r"\d{12,14}", text):
        return int(text)
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError as wrong:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a time: 30m, 2h, 3d, 2026-05-01, 2026-05-01T12:00"
        ) from wrong


def told(moment: int) -> str:
    """ms since the epoch as UTC, to the second."""
    return datetime.fromtimestamp(moment / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
