"""Dead letters of a record that went back and died again: the newer letter stands for it."""

from __future__ import annotations

from contextlib import closing

from stream.config.settings import Settings
from stream.log.base import Log
from stream.replay.find import PATIENCE_S, find_dead_letters
from stream.replay.markers import Markers
from stream.replay.returned import WentBack

ASK_S = 10.0


def superseded(log: Log, settings: Settings, markers: Markers) -> dict[str, str]:
    """Place of the older letter -> place of the newer one."""
    went_back = WentBack()
    newer: dict[str, str] = {}
    for found in find_dead_letters(log, settings):
        if found.letter.replay:
            newer[str(found.letter.source)] = found.place
        went_back.add(found, markers.of(found))
    begin = went_back.begin(log.admin(), ASK_S)
    if not begin or not newer:
        return {}
    with closing(log.reader(begin)) as reader:
        returned = went_back.find(markers, reader.to_end(PATIENCE_S))
    return {place: newer[str(source)] for place, source in returned.items() if str(source) in newer}
