"""Records without an output yet: on their input topic, or on a work topic."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from schemas.lane import LANES
from schemas.source import Source
from stream.cli.finding.hit import Hit, State
from stream.cli.finding.scan import scan_topics
from stream.cli.finding.wanted import Wanted, WantedSources, position
from stream.client.deadline import Deadline
from stream.client.group_position import ASK_S, GroupPosition, partitions_of, standings
from stream.client.heartbeats import last_beats
from stream.config.settings import Settings
from stream.log.base import Log, Partition
from stream.topics.left_behind import left_behind
from stream.topics.served import input_topics


class Underway:
    """Looks at inputs and work topics, with what their groups have committed."""

    def __init__(self, log: Log, settings: Settings, topics: Mapping[str, int], deadline: Deadline) -> None:
        self._log = log
        self._settings = settings
        self._topics = topics
        self._deadline = deadline

    def inputs(self, wanted: Wanted) -> Iterator[Source]:
        """Positions of input records that are wanted."""
        for record in scan_topics(self._log, self._begin(wanted), self._deadline):
            if wanted.on_input(record):
                yield position(record)
            if wanted.single is not None:
                # The first record at or after the position has come: it is there, or nobody can see it.
                return

    def waiting(self, sources: Collection[Source]) -> Iterator[Hit]:
        """A hit for each that the dispatcher has not routed."""
        places = list({Partition(source.topic, source.partition) for source in sources})
        found = self._standings(self._settings.dispatcher_group, places)
        for source in sources:
            standing = found[Partition(source.topic, source.partition)]
            if not standing.done(source.offset):
                yield Hit(source, State.WAITING, source, _before(standing, source.offset))

    def released(self, sources: Collection[Source]) -> Iterator[Hit]:
        """A hit for each whose output no worker has committed."""
        if not sources:
            return
        wanted = WantedSources(sources)
        workers = self._workers()
        groups = self._work_standings()
        begin = {place: standing.base for place, standing in groups.items() if standing.base < standing.end}
        for record in scan_topics(self._log, begin, self._deadline):
            source = wanted.later(record)
            standing = groups[Partition(record.topic(), record.partition())]
            if source is not None and not standing.done(record.offset()):
                yield self._at_work(source, position(record), standing, workers)

    def _begin(self, wanted: Wanted) -> list[str] | dict[Partition, int]:
        if wanted.single is not None:
            topic, partition, offset = wanted.single
            return {Partition(topic, partition): offset}
        return input_topics(self._settings, self._topics)

    def _workers(self) -> Mapping[str, str]:
        """Source -> the worker in whose engine it is."""
        with self._deadline.asking(ASK_S) as ask_s:
            beats = last_beats(self._log, self._settings, self._topics, ask_s=ask_s)
        return {source: beat.worker for beat in beats for source in beat.sources}

    def _work_standings(self) -> dict[Partition, GroupPosition]:
        found: dict[Partition, GroupPosition] = {}
        for endpoint in (*self._settings.endpoints, *left_behind(self._settings, self._topics)):
            names = [self._settings.work_topic(endpoint, lane) for lane in LANES]
            places = partitions_of(self._topics, names)
            found.update(self._standings(self._settings.worker_group(endpoint), places))
        return found

    def _at_work(
        self, source: Source, where: Source, standing: GroupPosition, workers: Mapping[str, str]
    ) -> Hit:
        worker = workers.get(str(source))
        if worker is not None:
            return Hit(source, State.RUNNING, where, f"by {worker}")
        for endpoint in self._settings.endpoints:
            if standing.group == self._settings.worker_group(endpoint):
                return Hit(source, State.RELEASED, where, _before(standing, where.offset))
        return Hit(
            source, State.RELEASED, where, "its endpoint is not in this configuration: nobody reads it"
        )

    def _standings(self, group: str, places: Sequence[Partition]) -> Mapping[Partition, GroupPosition]:
        with self._deadline.asking(ASK_S) as ask_s:
            return standings(self._log.admin(), group, places, ask_s)


def _before(standing: GroupPosition, offset: int) -> str:
    if standing.distrust is not None:
        return f"its partition is set aside: {standing.distrust}"
    return f"{standing.open_before(offset)} records before it in its partition"
