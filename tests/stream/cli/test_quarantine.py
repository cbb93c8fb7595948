"""What was set aside, and an operator's ways out."""

from __future__ import annotations

import json
import time
from contextlib import closing

import msgspec
import pytest

from schemas.failure import ErrorClass
from schemas.headers import Headers
from schemas.heartbeat import Heartbeat
from schemas.lane import Lane
from schemas.source import Source
from stream.cli.quarantine import replay_offset
from stream.cli.quarantined.fresh_map import write_fresh_map
from stream.cli.quarantined.newer_records import refusing_workers
from stream.cli.quarantined.partitions import distrusted, distrusted_one
from stream.cli.quarantined.reply_topics import refused_topics
from stream.client.deadline import Deadline
from stream.client.group_position import GroupPosition, standings
from stream.errors import UsageError
from stream.exactly_once.offset_map import OffsetMap
from stream.log.base import OffsetCommit, Partition, Success
from stream.replay.decisions import replay
from stream.replay.find import Wanted
from tests.stream.cli.conftest import Installed, Run
from tests.stream.client.in_memory import InMemory, Nobody


@pytest.fixture
def here() -> InMemory:
    """Five records on a work topic whose committed map is garbage, at offset 2."""
    here = InMemory()
    for number in range(5):
        here.release(Source("in", 0, number))
    here.commit(here.worker_group, Partition(here.work, 0), 2, "garbage")
    return here


def set_aside(here: InMemory) -> list[GroupPosition]:
    admin = here.log.admin()
    return list(distrusted(admin, here.settings, admin.topics(5), Deadline(10)))


def test_a_map_that_is_none_is_listed_with_its_reason(here: InMemory) -> None:
    [found] = set_aside(here)
    assert (found.group, found.partition) == (here.worker_group, Partition(here.work, 0))
    assert found.distrust is not None
    assert "not an offset map" in found.distrust


def test_reset_goes_on_at_the_end_and_replay_at_the_base_or_the_start(here: InMemory) -> None:
    place = Partition(here.work, 0)
    standing = distrusted_one(here.log.admin(), here.settings, place)
    assert (standing.end, replay_offset(standing, "base"), replay_offset(standing, "start")) == (5, 2, 0)


@pytest.mark.parametrize("offset", [0, 2, 5])
def test_a_fresh_map_is_trusted_again(here: InMemory, offset: int) -> None:
    place = Partition(here.work, 0)
    write_fresh_map(here.log, here.settings, here.worker_group, place, offset)
    assert set_aside(here) == []
    standing = standings(here.log.admin(), here.worker_group, [place])[place]
    assert (standing.offsets, standing.lag) == (OffsetMap.empty(offset), 5 - offset)


def test_a_base_beyond_the_log_replays_from_its_start(here: InMemory) -> None:
    place = Partition(here.work, 0)
    here.commit(here.worker_group, place, 77, "garbage")
    standing = distrusted_one(here.log.admin(), here.settings, place)
    assert replay_offset(standing, "base") == 0


def test_a_sound_partition_is_never_touched(here: InMemory) -> None:
    with pytest.raises(UsageError, match="its map is sound"):
        distrusted_one(here.log.admin(), here.settings, Partition(here.requests, 0))


def test_a_partition_of_nobody_is_a_usage_error(here: InMemory) -> None:
    with pytest.raises(UsageError, match=r"no partition nowhere/0"):
        distrusted_one(here.log.admin(), here.settings, Partition("nowhere", 0))
    with pytest.raises(UsageError, match="neither an input nor a work topic"):
        distrusted_one(here.log.admin(), here.settings, Partition(here.settings.outputs.results, 0))


def test_reply_topics_that_refused_are_told_from_their_dead_letters(here: InMemory) -> None:
    reply: Headers = [("headrace-in.headrace-reply-to", b"headrace.replies.x:0")]
    for offset in range(2):
        here.bury(Source("in", 0, offset), b"{}", ErrorClass.UNWRITABLE, reply)
    here.bury(Source("in", 0, 9), b"{}")
    topics = list(here.log.admin().topics(5))
    [refused] = refused_topics(here.log, here.settings, topics, Deadline(10))
    assert (refused.topic, refused.exists, refused.dead_letters) == ("headrace.replies.x", False, 2)
    assert refused.why == "the reason"


def test_a_reply_topic_whose_dead_letters_were_replayed_is_forgotten(here: InMemory) -> None:
    reply: Headers = [("headrace-in.headrace-reply-to", b"headrace.replies.x:0")]
    sources = [here.request("r-1"), here.request("r-2")]
    for source in sources:
        here.bury(source, b"{}", ErrorClass.UNWRITABLE, reply)
    counts = []
    for source in sources:
        assert [one.outcome for one in replay(here.log, here.settings, Wanted(source=source))] == ["replayed"]
        topics = list(here.log.admin().topics(5))
        left = refused_topics(here.log, here.settings, topics, Deadline(10))
        counts.append([one.dead_letters for one in left])
    assert counts == [[1], []]


def test_a_worker_that_refuses_more_than_bad_maps_explain_is_named(here: InMemory) -> None:
    [standing] = set_aside(here)
    beat = Heartbeat("worker-sim-00", "sim", 0, "running", 8, {}, {}, {}, [0], 1, [])
    silent = msgspec.structs.replace(beat, worker="worker-sim-01", quarantined=0)
    assert refusing_workers([beat, silent], [standing], here.settings) == {}
    assert refusing_workers([beat, silent], [], here.settings) == {"worker-sim-00": 1}


def test_whoever_resets_what_a_worker_refuses_for_its_version_is_told_what_helps(here: InMemory) -> None:
    sound = Partition(here.settings.work_topic("sim", Lane.INTERACTIVE), 0)
    with pytest.raises(UsageError, match="newer `headrace-version`: start workers of that version"):
        distrusted_one(here.log.admin(), here.settings, sound)


@pytest.mark.broker
def test_on_a_real_broker_a_broken_map_is_listed_replayed_and_gone(run: Run, installed: Installed) -> None:
    work, group = installed.settings.work_topic("sim", Lane.BATCH), installed.settings.worker_group("sim")
    spoil(installed, group, OffsetCommit(work, 1, 0, "v1:broken"))
    options = ("-c", str(installed.config))
    [listed] = json.loads(run("quarantine", "list", "--json", *options).out)["partitions"]
    assert (listed["topic"], listed["partition"], listed["committed"]) == (work, 1, 0)
    assert f"{work}/1" in run("quarantine", "list", *options).out
    replayed = run("quarantine", "replay", f"{work}/1", *options)
    assert (replayed.code, replayed.err) == (0, "")
    assert replayed.out.startswith(f"{work}/1 goes on at 0 of 0 for {group}")
    until_s = time.monotonic() + 60
    # The command ends when its commit is decided, and others see the offset a moment later.
    while (listed := run("quarantine", "list", *options).out) != "nothing is set aside\n":
        assert time.monotonic() < until_s, listed
    again = run("quarantine", "reset", f"{work}/1", *options)
    assert again.code == 2
    assert again.err.startswith(f"headrace: {work}/1 is not set aside: its map is sound; ")


def spoil(installed: Installed, group: str, commit: OffsetCommit) -> None:
    """Commit what no worker of ours would."""
    with (
        closing(installed.log.consumer(group)) as consumer,
        closing(installed.log.producer(group)) as producer,
    ):
        producer.start(30)
        consumer.subscribe([installed.settings.own_topic("workers")], Nobody())
        while not consumer.group().valid:
            consumer.poll(1, 0.1)
        assert producer.publish([], [commit], consumer.group()) == Success()
    place, admin, until_s = (
        Partition(commit.topic, commit.partition),
        installed.log.admin(),
        time.monotonic() + 60,
    )
    while admin.group_offsets(group, [place], 30)[place] is None:
        assert time.monotonic() < until_s
