"""The dispatcher on a real Kafka: what the log in memory only imitates."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from confluent_kafka import Producer

from schemas.headers import Headers
from stream.dispatcher.loop import Dispatcher
from stream.errors import LogError, LogFenced
from stream.log.base import TopicDescription
from stream.process_context import ProcessContext
from stream.replay.decisions import replay
from stream.replay.find import Wanted
from stream.role.report import read_report
from tests.stream.dispatcher.kafka_site import GOOD, PATIENCE_S, Site, limit, site, turn_until
from tests.stream.dispatcher.stage import line

__all__ = ["site"]
pytestmark = pytest.mark.broker


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
    site.log.admin().create([TopicDescription(topic, 1, {})], 30)
    site.send_to(topic, GOOD)
    turn_until(made, lambda: bool(site.work()))
    made.close()
    [work] = site.work()
    assert (work.tenant, work.source) == ("acme", (topic, 0, 0))


def test_a_work_record_too_large_for_its_topic_is_the_only_dead_letter_of_its_batch(site: Site) -> None:
    made = site.dispatcher()
    topic = site.settings.own_topic("work.sim.batch")
    # Text that does not compress: the broker looks at the compressed size.
    large = line(custom_id="".join(chr(0x4E00 + (i * 7919) % 20000) for i in range(20_000)))
    limit(site, topic, 20_000, large)
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
        _turn_for(first, PATIENCE_S)
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
from stream.dispatcher.role import run_dispatcher
from stream.process_context import ProcessContext
from workers.endpoint import Endpoint
servers, state_dir, prefix = sys.argv[1:]
settings = Settings(
    prefix=prefix,
    inputs=(InputBinding(f"{prefix}requests"),),
    outputs=Outputs(f"{prefix}results", f"{prefix}dead-letters", (f"{prefix}results",)),
    endpoints={"sim": Endpoint("sim", "simulated", partitions=2)},
)
sys.exit(run_dispatcher(settings, 0, ProcessContext(servers, Path(state_dir), "dispatcher-00")))
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
        assert process.wait(60) == code
    finally:
        process.kill()
        process.wait()
    assert _state(place) == "draining"
    assert (len(site.work()), len(site.dead())) == (1, 1)


def _state(place: ProcessContext) -> str:
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
