"""A broker of the benchmark's own in a temporary folder, filled topics, roles as processes, and rates seen from outside."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from stream.broker.embedded import EmbeddedBroker
from stream.config.load import load_settings
from stream.config.settings import Settings
from stream.log.base import Output, Partition, TopicDescription
from stream.log.kafka.log import KafkaLog
from stream.topics.ensure import ensure_topics

ADMIN_TIMEOUT_S = 30.0
#: No progress for so long: the contender is stuck.
PATIENCE_S = 120.0
SAMPLE_S = 0.05


class Stage:
    """One broker, one configuration; roles come and go."""

    def __init__(self, folder: Path, broker: EmbeddedBroker, config: str) -> None:
        self.folder = folder
        self.bootstrap = broker.bootstrap_servers
        self.log = KafkaLog(self.bootstrap, {})
        self.config = folder / "headrace.toml"
        self.config.write_text(f'[kafka]\nbootstrap_servers = "{self.bootstrap}"\n{config}', encoding="utf-8")
        self.settings: Settings = load_settings(self.config)
        ensure_topics(self.log.admin(), self.settings)

    def create(self, topic: str, partitions: int) -> None:
        self.log.admin().create([TopicDescription(topic, partitions, {})], ADMIN_TIMEOUT_S)
        time.sleep(1)

    def fill(self, topic: str, count: int, record: Callable[[int], tuple[bytes | None, bytes]]) -> None:
        """Produce `count` records made by `record(i) -> (key, value)`."""
        producer = self.log.plain_producer()
        for place in range(count):
            key, value = record(place)
            producer.send(Output(topic, key, value, []))
        left = producer.flush(PATIENCE_S)
        producer.close()
        if left:
            raise TimeoutError(f"{left} records of {topic} were not delivered")

    def role(self, *words: str) -> Role:
        """`headrace WORDS…` as a process of its own."""
        return self.process("stream", *words, log=words[0])

    def process(self, module: str, *words: str, log: str = "") -> Role:
        """`python -m MODULE WORDS…` for this installation; its output goes into a log in the folder."""
        command = [sys.executable, "-m", module, *words, "-c", str(self.config)]
        file = self.folder / f"{log or module}.log"
        return Role([*command, "--state-dir", str(self.folder / "state")], file)

    def partitions(self, topic: str) -> list[Partition]:
        count = self.log.admin().topics(ADMIN_TIMEOUT_S)[topic]
        return [Partition(topic, number) for number in range(count)]

    def committed(self, group: str, topics: Sequence[str]) -> int:
        """Sum of the committed offsets of the group, as a stranger sees it."""
        wanted = [partition for topic in topics for partition in self.partitions(topic)]
        found = self.log.admin().group_offsets(group, wanted, ADMIN_TIMEOUT_S)
        return sum(one.offset for one in found.values() if one is not None)

    def rate(self, progress: Callable[[], int], end: int) -> float:
        """Records/s from the first sight of progress to `end`, start-up not counted."""
        first = heard = time.monotonic()
        begin = last = progress()
        while begin == last:
            self._patient(heard, last, end)
            time.sleep(SAMPLE_S)
            last = progress()
        begin, first = last, time.monotonic()
        while last < end:
            time.sleep(SAMPLE_S)
            now = progress()
            heard = time.monotonic() if now > last else heard
            last = now
            self._patient(heard, last, end)
        return (last - begin) / (time.monotonic() - first)

    @staticmethod
    def _patient(heard: float, last: int, end: int) -> None:
        if time.monotonic() - heard > PATIENCE_S:
            raise TimeoutError(f"stuck at {last} of {end} for {PATIENCE_S:.0f} s")


class Role:
    """A process in its own group, ended by pid."""

    def __init__(
        self, command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None
    ) -> None:
        with log.open("ab") as out:
            self.process = subprocess.Popen(
                command,
                stdout=out,
                stderr=out,
                start_new_session=True,
                env={**os.environ, **(environment or {})},
            )

    def stop(self, grace_s: float = 30.0) -> None:
        """SIGTERM, then SIGKILL to the whole group."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(grace_s)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@contextmanager
def stage(config: str) -> Iterator[Stage]:
    """A fresh broker; `config` is the TOML after its [kafka] part."""
    folder = Path(tempfile.mkdtemp(prefix="headrace-bench-"))
    broker = EmbeddedBroker(folder / "broker", heap_mib=1024)
    broker.start()
    try:
        yield Stage(folder, broker, config)
    except BaseException:
        print(f"logs of the failed run are kept in {folder}")
        raise
    finally:
        broker.stop()
    shutil.rmtree(folder, ignore_errors=True)
