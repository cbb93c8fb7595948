"""Watches from outside while a scenario runs: every committed map, and rebalances with work in flight."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from confluent_kafka import KafkaException

from tests.chaos.check.evidence import Place, Progress
from tests.chaos.play.positions import Positions, progress_of
from tests.chaos.proxy.server import Proxy

INTERVAL_S: Final = 0.25
#: (group, topic, partition)
Key = tuple[str, str, int]


class Sampler:
    """A thread that reads the committed maps of `groups` (group -> its topics) several times a second."""

    def __init__(self, positions: Positions, proxy: Proxy, groups: Mapping[str, Sequence[str]]) -> None:
        self.samples: dict[Key, list[Progress]] = {}
        #: group -> its rebalances with work in flight.
        self.busy: Counter[str] = Counter()
        self.failures: list[BaseException] = []
        self._positions = positions
        self._proxy = proxy
        self._groups = groups
        self._places: dict[str, list[Place]] = {}
        self._generations: dict[str, int] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="sampler", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def busy_rebalances(self) -> int:
        return self.busy.total()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():  # a scenario may have failed before
            self._thread.join(60)

    def sample(self) -> None:
        """Read all maps now; what cannot be read (the broker is down) is left out."""
        with self._lock:
            for group in self._groups:
                try:
                    found = self._positions.committed(group, self._places_of(group))
                except (KafkaException, TimeoutError):
                    continue
                for (topic, partition), (offset, metadata) in found.items():
                    self._keep((group, topic, partition), progress_of(offset, metadata))

    def skip_lists(self, group: str) -> int:
        """Partitions of `group` with work done above their offset, as last sampled: its next owner must skip it."""
        with self._lock:
            return sum(1 for key, kept in self.samples.items() if key[0] == group and kept[-1].done)

    def _places_of(self, group: str) -> list[Place]:
        """Looked up until all topics are there; partitions are never added in a run."""
        if not self._places.get(group):
            self._places[group] = self._positions.partitions(self._groups[group])
        return self._places[group]

    def _keep(self, key: Key, progress: Progress) -> None:
        kept = self.samples.setdefault(key, [])
        if not kept or kept[-1] != progress:
            kept.append(progress)

    def _watch(self) -> None:
        while not self._stop.wait(INTERVAL_S):
            try:
                busy = {group: self.skip_lists(group) > 0 for group in self._groups}
                self.sample()
                for group in self._groups:
                    self._note_rebalance(group, busy[group] or self.skip_lists(group) > 0)
            except Exception as error:
                self.failures.append(error)

    def _note_rebalance(self, group: str, busy: bool) -> None:
        """Work done above an offset means unfinished work below it: that work was in flight."""
        now, before = self._proxy.generations.get(group, 0), self._generations.get(group, 0)
        self._generations[group] = now
        if before and now > before:
            self.busy[group] += busy
