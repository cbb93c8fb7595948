"""One installation of a dispatcher on the shared broker, turned by hand."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from schemas.dead_letter import DeadLetter, parse_dead_letter
from schemas.headers import Headers
from schemas.work_record import WorkRecord, parse_work
from stream.broker import EmbeddedBroker
from stream.config.settings import InputBinding, Outputs, Settings
from stream.dispatcher.dependencies import DispatcherDependencies
from stream.dispatcher.limits import DispatcherLimits
from stream.dispatcher.loop import Dispatcher
from stream.log.base import Output, Partition, Record
from stream.log.kafka.log import KafkaLog, kafka_log
from stream.process_context import ProcessContext
from stream.topics import ensure_topics
from tests.stream.dispatcher.stage import line
from tests.stream.settled import await_markers
from workers.endpoint import Endpoint

GOOD = line()
PATIENCE_S = 60.0


@dataclass
class Site:
    """One installation on the shared broker, under a prefix of its own."""

    place: ProcessContext
    settings: Settings

    @property
    def log(self) -> KafkaLog:
        return kafka_log(self.place)

    @property
    def input(self) -> str:
        return self.settings.inputs[0].pattern

    @property
    def parts(self) -> DispatcherDependencies:
        return DispatcherDependencies(
            log=self.log,
            clock_s=time.monotonic,
            now_ms=lambda: time.time_ns() // 1_000_000,
            rules=DispatcherLimits(poll_s=0.05, gap_commit_s=0.05),
        )

    def dispatcher(self, slot: int = 0) -> Dispatcher:
        admin = self.log.admin()
        ensure_topics(admin, self.settings)
        made = Dispatcher(self.settings, slot, self.parts, admin)
        made.start()
        return made

    def send(self, *values: bytes | None, key: bytes | None = None, headers: Headers | None = None) -> None:
        self.send_to(self.input, *values, key=key, headers=headers)

    def send_to(
        self, topic: str, *values: bytes | None, key: bytes | None = None, headers: Headers | None = None
    ) -> None:
        producer = self.log.plain_producer()
        for value in values:
            producer.send(Output(topic, key, value, headers or [], 0))
        assert producer.flush(30) == 0
        producer.close()

    def work(self) -> list[WorkRecord]:
        read = self._read(self.settings.own_topic("work.sim.batch"))
        return sorted(
            (parse_work(r.key(), r.value(), r.headers()) for r in read), key=lambda work: work.source
        )

    def dead(self) -> list[DeadLetter]:
        read = self._read(self.settings.outputs.dead_letters)
        letters = (parse_dead_letter(r.key(), r.value(), r.headers()) for r in read)
        return sorted(letters, key=lambda letter: letter.source)

    def _read(self, topic: str) -> list[Record]:
        """All that is committed. The dispatcher does not turn meanwhile."""
        await_markers(self.log.admin(), topic)
        reader = self.log.reader([topic])
        found = list(reader.to_end(30))
        reader.close()
        return found

    def done(self, topic: str, partition: int = 0) -> bool:
        """The group has committed the end of the partition (I4)."""
        place = Partition(topic, partition)
        admin = self.log.admin()
        found = admin.group_offsets(self.settings.dispatcher_group, [place], 30)[place]
        return found is not None and found.offset == admin.stable_ends([place], 30)[place]


def turn_until(made: Dispatcher, reached: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    looked = 0.0
    while True:
        made.turn()
        if time.monotonic() - looked > 0.3:
            if reached():
                return
            looked = time.monotonic()
        assert time.monotonic() < until, "it never came"


def limit(site: Site, topic: str, bytes_max: int, too_large: bytes) -> None:
    """Its `max.message.bytes`. Returns once the broker goes by it: it answers before."""
    entry = ConfigEntry("max.message.bytes", str(bytes_max), incremental_operation=AlterConfigOpType.SET)
    admin = AdminClient({"bootstrap.servers": site.place.bootstrap_servers})
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[entry])
    for future in admin.incremental_alter_configs([resource]).values():
        future.result(30)
    until = time.monotonic() + PATIENCE_S
    while not _refused(site, topic, too_large):
        assert time.monotonic() < until, f"{topic} still takes it"


def _refused(site: Site, topic: str, value: bytes) -> bool:
    """Tried in a transaction that is aborted: nobody ever sees it."""
    servers, errors = site.place.bootstrap_servers, list[object]()
    producer = Producer({"bootstrap.servers": servers, "transactional.id": f"{topic}.probe"})
    producer.init_transactions(30)
    producer.begin_transaction()
    for partition in (0, 1):
        producer.produce(topic, value, partition=partition, on_delivery=lambda error, _: errors.append(error))
    producer.flush(30)
    producer.abort_transaction(30)
    refusals = [error.code() for error in errors if isinstance(error, KafkaError)]
    return refusals == [KafkaError.MSG_SIZE_TOO_LARGE] * 2


@pytest.fixture
def site(kafka: EmbeddedBroker, unique: Callable[[str], str], tmp_path: Path) -> Site:
    prefix = unique("site") + "."
    settings = Settings(
        prefix=prefix,
        inputs=(InputBinding(f"{prefix}requests"), InputBinding(f"{prefix}in.*", tenant="acme")),
        outputs=Outputs(
            f"{prefix}results", f"{prefix}dead-letters", (f"{prefix}results", f"{prefix}replies.*")
        ),
        endpoints={"sim": Endpoint("sim", "simulated", partitions=2)},
    )
    return Site(ProcessContext(kafka.bootstrap_servers, tmp_path, "dispatcher-00"), settings)
