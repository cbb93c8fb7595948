"""One installation for one scenario: a prefix of its own, its configuration file, its topics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from confluent_kafka.admin import AdminClient, NewTopic

from schemas.lane import LANES

ADMIN_TIMEOUT_S: Final = 60.0
#: Answers above it become `too_large`; ordinary ones take some hundred bytes.
RESULT_BYTES_MAX: Final = 100_000


@dataclass(frozen=True, slots=True)
class Shape:
    """What a scenario varies."""

    input_partitions: int = 4
    work_partitions: int = 8
    workers: int = 2
    dispatchers: int = 1
    slots: int = 64
    #: Random kills must condemn nobody.
    poison_deaths_max: int = 1000
    session_timeout_ms: int = 5_000
    poll_interval_ms: int = 300_000
    order: str = "session"
    commit_interval_ms: int = 100


@dataclass(frozen=True, slots=True)
class Installation:
    """Names and files. `bootstrap_servers` is what the roles are given: the proxy."""

    prefix: str
    folder: Path
    bootstrap_servers: str
    shape: Shape = field(default_factory=Shape)
    endpoint: str = "sim"

    @property
    def requests(self) -> str:
        return f"{self.prefix}requests"

    @property
    def outputs(self) -> tuple[str, str]:
        """Results, dead letters."""
        return f"{self.prefix}results", f"{self.prefix}dead-letters"

    @property
    def usage(self) -> str:
        return f"{self.prefix}usage"

    @property
    def work(self) -> list[str]:
        return [f"{self.prefix}work.{self.endpoint}.{lane}" for lane in LANES]

    @property
    def groups(self) -> dict[str, list[str]]:
        """Consumer group -> the topics it reads."""
        return {self.dispatcher_group: [self.requests], self.worker_group: self.work}

    @property
    def dispatcher_group(self) -> str:
        return f"{self.prefix}dispatcher"

    @property
    def worker_group(self) -> str:
        return f"{self.prefix}worker.{self.endpoint}"

    @property
    def logs(self) -> Path:
        """One file a role."""
        return self.folder / "logs"

    @property
    def config_file(self) -> Path:
        return self.folder / "headrace.toml"

    def write_config(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.config_file.write_text(self._config())

    def create_own_topics(self, bootstrap_servers: str) -> None:
        """The input, which is the operator's, and a results topic with a limit to run into."""
        # The broker judges the size that it stores: answers that repeat themselves would shrink below any limit.
        config = {"max.message.bytes": str(RESULT_BYTES_MAX), "compression.type": "uncompressed"}
        results = NewTopic(self.outputs[0], 4, config=config)
        create_topics(bootstrap_servers, [NewTopic(self.requests, self.shape.input_partitions), results])

    def _config(self) -> str:
        results, dead_letters = self.outputs
        shape = self.shape
        return f"""\
[headrace]
prefix = "{self.prefix}"
[kafka]
bootstrap_servers = "{self.bootstrap_servers}"
client = {{ "session.timeout.ms" = "{shape.session_timeout_ms}", "max.poll.interval.ms" = "{shape.poll_interval_ms}" }}
[inputs."{self.requests}"]
format = "json"
[outputs]
results = "{results}"
dead_letters = "{dead_letters}"
reply_topics = ["{results}"]
compression = "none"
[endpoints.{self.endpoint}]
engine = "simulated"
workers = {shape.workers}
partitions = {shape.work_partitions}
slots = {shape.slots}
order = "{shape.order}"
poison_deaths_max = {shape.poison_deaths_max}
[commit]
interval_ms = {shape.commit_interval_ms}
"""


def create_topics(bootstrap_servers: str, topics: Sequence[NewTopic]) -> None:
    """Create and wait; an existing one is an error."""
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})
    for done in admin.create_topics(list(topics)).values():
        done.result(ADMIN_TIMEOUT_S)
