"""More records at once than usual: transactions of thousands of outputs, refused ones among them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tests.chaos.play.stage import Stage

FLOOD: Final = (1_000, 4_000)
BATCH: Final = 500
#: Short, so that thousands of answers are ready together.
SLEEP_MEAN_S: Final = 0.002


def flood(stage: Stage) -> None:
    """Thousands of short records. One answer in five hundred is too large for its topic, where the mix has such."""
    share = min(stage.mix.too_large_share, 0.002)
    mix = replace(stage.mix, sleep_mean_s=SLEEP_MEAN_S, too_large_share=share)
    stage.send(stage.rng.randint(*FLOOD), mix, BATCH)
    stage.bitten["flood"] += 1
