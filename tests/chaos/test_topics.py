"""Topics change under a running installation: records deleted, made anew, gone, forbidden."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from tests.chaos.inputs.mix import Mix
from tests.chaos.moves.topics import delete, delete_half, forbidden, make_anew
from tests.chaos.play.cluster import Cluster
from tests.chaos.play.installation import Shape
from tests.chaos.play.judge import judge
from tests.chaos.play.reading import read_all
from tests.chaos.play.scenario import prepared
from tests.chaos.play.scene import DRAIN_S, PATIENCE_S

pytestmark = [pytest.mark.broker, pytest.mark.chaos, pytest.mark.timeout(900)]

SHAPE = Shape(input_partitions=2, work_partitions=4, workers=1, session_timeout_ms=3_000)
MIX = Mix(partitions=2, bad_share=0.0, sleep_mean_s=0.02)


def eventually(reached: Callable[[], bool], what: str, timeout_s: float = PATIENCE_S) -> None:
    deadline = time.monotonic() + timeout_s
    while not reached():
        assert time.monotonic() < deadline, f"{what}: not within {timeout_s} s"
        time.sleep(0.1)


def test_records_deleted_before_they_were_read_are_a_gap(cluster: Cluster, tmp_path: Path) -> None:
    with prepared(cluster, tmp_path, Random(11), SHAPE, MIX) as stage:
        stage.send_markers()  # the base stands above 0, and what it passed was visible to nobody
        assert stage.drain(PATIENCE_S)
        dispatcher = stage.roles["dispatcher-00"]
        dispatcher.ask_to_stop()
        assert dispatcher.wait(PATIENCE_S)
        stage.send(60)
        delete_half(stage, stage.installation.requests)
        dispatcher.start()
        stage.send(20)
        judgement = judge(stage, drain_s=DRAIN_S, required=())
    assert judgement.violations == [], judgement.summary()
    assert 20 < len(judgement.evidence.inputs) < 70
    assert judgement.surprises == []


def test_an_input_topic_made_anew_is_read_from_its_start_and_nothing_is_answered_twice(
    cluster: Cluster, tmp_path: Path
) -> None:
    with prepared(cluster, tmp_path, Random(12), SHAPE, MIX) as stage:
        stage.send(60)
        assert stage.drain(PATIENCE_S)
        dispatcher, topic = stage.roles["dispatcher-00"], stage.installation.requests
        dispatcher.ask_to_stop()
        assert dispatcher.wait(PATIENCE_S)
        make_anew(stage, topic, SHAPE.input_partitions)
        stage.send(16)
        dispatcher.start()
        eventually(lambda: stage.outputs_seen == 76, "Kafka has forgotten the group's offsets with the topic")
        assert stage.drain(DRAIN_S)
        stage.stop_roles()
        results = stage.positions.partitions([stage.installation.outputs[0]])
        answered = Counter(
            json.loads(message.value() or b"")["custom_id"]
            for message in read_all(cluster.direct, results, "read_committed")
        )
    assert answered == Counter({f"r-{number}": 1 for number in range(76)})
    assert stage.surprises == []


def test_a_dead_letter_topic_that_is_gone_or_forbidden_stops_the_roles_and_loses_nothing(
    cluster: Cluster, tmp_path: Path
) -> None:
    with prepared(cluster, tmp_path, Random(13), SHAPE, MIX) as stage:
        stage.send(20)
        assert stage.drain(PATIENCE_S)
        letters, dispatcher = stage.installation.outputs[1], stage.roles["dispatcher-00"]
        delete(stage, letters)
        stage.send(20, replace(MIX, bad_share=0.5))
        eventually(lambda: not dispatcher.alive, "an alarm for the topic that is gone")
        assert stage.drain(PATIENCE_S)  # whoever starts it again makes the topic
        assert dispatcher.alive
        with forbidden(stage, letters):
            stage.send(20, replace(MIX, bad_share=0.5))
            eventually(lambda: not dispatcher.alive, "an alarm for the topic that may not be written")
        judgement = judge(stage, drain_s=DRAIN_S, required=())
    assert judgement.violations == [], judgement.summary()
    assert len(judgement.evidence.inputs) == 60
    assert set(judgement.surprises) == {"dispatcher-00 ended with 1"}
    assert (
        "takes no records" in dispatcher.log_file.read_text() or "refuses" in dispatcher.log_file.read_text()
    )
