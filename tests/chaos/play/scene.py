"""The usual installation of a scenario, and its usual records."""

from __future__ import annotations

from typing import Final

from tests.chaos.inputs.mix import Mix
from tests.chaos.play.installation import RESULT_BYTES_MAX, Shape

SHAPE: Final = Shape(workers=2, session_timeout_ms=3_000)
MIX: Final = Mix(sleep_mean_s=0.3, too_large_share=0.02, too_large_bytes=2 * RESULT_BYTES_MAX)
#: Patience with a whole run, and with one step of it: on a loaded machine a role takes long to start.
DRAIN_S: Final = 180.0
PATIENCE_S: Final = 90.0
