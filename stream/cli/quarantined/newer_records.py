"""Workers that refuse partitions whose map is sound: records there are of a newer version. Their heartbeats tell it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from schemas.heartbeat import Heartbeat
from stream.client.group_position import GroupPosition
from stream.config.settings import Settings


def refusing_workers(
    beats: Iterable[Heartbeat], distrusted: Sequence[GroupPosition], settings: Settings
) -> Mapping[str, int]:
    """Worker -> partitions it set aside, for endpoints whose workers set aside more than bad maps explain."""
    by_bad_map = Counter(standing.group for standing in distrusted)
    workers = [beat for beat in beats if beat.quarantined]
    told: Counter[str] = Counter()
    for beat in workers:
        told[settings.worker_group(beat.endpoint)] += beat.quarantined
    more = {group for group, count in told.items() if count > by_bad_map[group]}
    return {beat.worker: beat.quarantined for beat in workers if settings.worker_group(beat.endpoint) in more}
