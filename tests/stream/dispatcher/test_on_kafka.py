"""The dispatcher on a real Kafka: what the log in memory only imitates."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from schemas.dead_letter import DeadLetter, parse_dead_letter
from schemas.headers import Headers
from schemas.work_record import WorkRecord, parse_work
from stream.broker import EmbeddedBroker
from stream.config.settings import InputBinding, Outputs, Settings
from stream.dispatcher.loop import Dispatcher
from stream.dispatcher.parts import Parts
from stream.dispatcher.rules import Rules
from stream.errors import LogError, LogFenced
from stream.log.base import Output, Partition
from stream.log.kafka import KafkaLog, kafka_log
from stream.place import Place
from stream.replay.find import Wanted
from stream.replay.run import replay
from stream.supervisor.report import read_report
from stream.topics import ensure_topics
from tests.stream.dispatcher.stage import line
from workers.endpoint import Endpoint

pytestmark = pytest.mark.broker

GOOD = line()
PATIENCE_S = 60.0


@dataclass
class Site:
    """One installation on the shared broker, under a prefix of its own."""

    place: Place
    settings: Settings

    @property
    def log(self) -> KafkaLog:
        return kafka_log(self.place)

    @property
    def input(self) -> str:
        return self.settings.inputs[0].pattern

    @property
    def parts(self) -> Parts:
        return Parts(
            log=self.log,
            clock_s=time.monotonic,
            now_ms=lambda: time.time_ns() // 1_000_000,
            rules=Rules(poll_s=0.05, gap_commit_s=0.05),
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
        reader = self.log.reader([self.settings.own_topic("work.sim.batch")])
        found = [parse_work(r.key(), r.value(), r.headers()) for r in reader.to_end(30)]
        reader.close()
        return sorted(found, key=lambda work: work.source)

    def dead(self) -> list[DeadLetter]:
        reader = self.log.reader([self.settings.outputs.dead_letters])
        found = [parse_dead_letter(r.key(), r.value(), r.headers()) for r in reader.to_end(30)]
        reader.close()
        return sorted(found, key=lambda letter: letter.source)

    def done(self, topic: str, partition: int = 0) -> bool:
        """The group has committed the end of the partition (I4)."""
        place = Partition(topic, partition)
        admin = self.log.admin()
        found = admin.group_offsets(self.settings.dispatcher_group, [place], 10)[place]
        return found is not None and found.offset == admin.stable_ends([place], 10)[place]


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
    return Site(Place(kafka.bootstrap_servers, tmp_path, "dispatcher-00"), settings)


def test_good_and_bad_records_each_get_one_output_and_the_end_is_committed(site: Site) -> None:
    made = site.dispatcher()
    odd: Headers = [("mine", b"\xff"), ("mine", None), ("headrace-lane", b"batch"), ("e", b"")]
    site.send(GOOD, b"no", None, b"", line(body_model="simm"), GOOD, key=b"\x00\xffk", headers=odd)
    turn_until(made, lambda: site.done(site.input))
    made.close()
    assert [(work.source.offset, work.value, work.key) for work in site.work()] == [
        (0, GOOD, b"\x00\xffk"),
        (5, GOOD, b"\x00\xffk"),
    ]
    letters = site.dead()
    assert [letter.failure.error_class for letter in letters] == ["unreadable"] * 3 + ["unknown_endpoint"]
    assert [letter.value for letter in letters] == [b"no", None, b"", line(body_model="simm")]
    assert {tuple(letter.original_headers) for letter in letters} == {tuple(odd)}


def test_the_end_is_committed_over_markers_and_aborted_records(site: Site) -> None:
    made = site.dispatcher()
    producer = Producer(
        {"bootstrap.servers": site.place.bootstrap_servers, "transactional.id": site.settings.prefix + "app"}
    )
    producer.init_transactions(30)
    for commit in (True, False, True, False):
        producer.begin_transaction()
        producer.produce(site.input, GOOD if commit else b"never seen", partition=0)
        producer.flush()
        if commit:
            producer.commit_transaction()
        else:
            producer.abort_transaction()
    turn_until(made, lambda: site.done(site.input))
    made.close()
    assert len(site.work()) == 2
    assert site.dead() == []


def test_a_topic_that_appears_and_matches_a_pattern_is_read_within_seconds(site: Site) -> None:
    made = site.dispatcher()
    made.turn()
    topic = f"{site.settings.prefix}in.reviews"
    from stream.log.base import TopicDescription  # noqa: PLC0415

    site.log.admin().create([TopicDescription(topic, 1, {})], 30)
    site.send_to(topic, GOOD)
    turn_until(made, lambda: bool(site.work()))
    made.close()
    [work] = site.work()
    assert (work.tenant, work.source) == ("acme", (topic, 0, 0))


def test_a_work_record_too_large_for_its_topic_is_the_only_dead_letter_of_its_batch(site: Site) -> None:
    made = site.dispatcher()
    topic = site.settings.own_topic("work.sim.batch")
    limit = ConfigEntry("max.message.bytes", "20000", incremental_operation=AlterConfigOpType.SET)
    admin = AdminClient({"bootstrap.servers": site.place.bootstrap_servers})
    resource = ConfigResource(ResourceType.TOPIC, topic, incremental_configs=[limit])
    for future in admin.incremental_alter_configs([resource]).values():
        future.result(30)
    # Text that does not compress: the broker looks at the compressed size.
    large = line(custom_id="".join(chr(0x4E00 + (i * 7919) % 20000) for i in range(20_000)))
    site.send(*[GOOD] * 5, large, *[GOOD] * 5)
    turn_until(made, lambda: site.done(site.input))
    made.close()
    [letter] = site.dead()
    assert (letter.failure.error_class, letter.failure.stage, letter.source.offset) == (
        "too_large",
        "publish",
        5,
    )
    assert letter.value == large
    assert len(site.work()) == 10


def test_a_twin_ends_the_first(site: Site) -> None:
    first = site.dispatcher()
    site.send(GOOD)
    turn_until(
        first, lambda: len(site.work()) == 1
    )  # it is a member: a first join now would take the slot back
    second = site.dispatcher()
    site.send(GOOD)
    turn_until(second, lambda: len(site.work()) == 2)
    with pytest.raises(LogFenced):
        _turn_for(first, 20)
    second.close()
    assert len(site.work()) == 2


def _turn_for(made: Dispatcher, seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        made.turn()


def test_a_replay_puts_the_original_back_once(site: Site) -> None:
    made = site.dispatcher()
    odd: Headers = [("mine", b"\xff"), ("headrace-errors", b"dead-letter"), ("mine", None)]
    site.send(b"no", key=b"k", headers=odd)
    turn_until(made, lambda: bool(site.dead()))
    assert [told.outcome for told in replay(site.log, site.settings, Wanted())] == ["replayed"]
    assert [told.outcome for told in replay(site.log, site.settings, Wanted())] == ["already"]
    turn_until(made, lambda: len(site.dead()) == 2)
    made.close()
    second = site.dead()[1]
    assert (second.key, second.value, second.original_headers, second.replay) == (b"k", b"no", odd, 1)


ROLE = """
import sys
from pathlib import Path
from stream.config.settings import InputBinding, Outputs, Settings
from stream.dispatcher.run import run_dispatcher
from stream.place import Place
from workers.endpoint import Endpoint
servers, state_dir, prefix = sys.argv[1:]
settings = Settings(
    prefix=prefix,
    inputs=(InputBinding(f"{prefix}requests"),),
    outputs=Outputs(f"{prefix}results", f"{prefix}dead-letters", (f"{prefix}results",)),
    endpoints={"sim": Endpoint("sim", "simulated", partitions=2)},
)
sys.exit(run_dispatcher(settings, 0, Place(servers, Path(state_dir), "dispatcher-00")))
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_the_role_reports_itself_and_ends_cleanly_on_a_signal(
    site: Site, number: signal.Signals, code: int
) -> None:
    place = site.place
    (place.state_dir / "processes").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", ROLE, place.bootstrap_servers, str(place.state_dir), site.settings.prefix]
    )
    try:
        _wait_for(lambda: _state(place) == "running")
        site.send(GOOD, b"no")
        _wait_for(lambda: site.done(site.input))
        process.send_signal(number)
        assert process.wait(30) == code
    finally:
        process.kill()
        process.wait()
    assert _state(place) == "draining"
    assert (len(site.work()), len(site.dead())) == (1, 1)


def _state(place: Place) -> str:
    told = read_report(place.state_dir, place.process_name)
    return told.state if told else ""


def _wait_for(reached: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        try:
            if reached():
                return
        except LogError:
            """The topics are not there yet."""
        time.sleep(0.2)
    pytest.fail("it never came")
