"""`dead-letters replay`, `resolve` and `edit` as processes on a real broker: killed in a transaction, or deaf to its end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from schemas.dead_letter import DeadLetter, write_dead_letter
from schemas.failure import ErrorClass, Failure, Stage
from schemas.headers import REPLAY
from schemas.source import Source
from stream.config.load import load_settings
from stream.config.settings import Settings
from stream.errors import BrokerError
from stream.log.base import Output, Record
from stream.log.kafka.log import KafkaLog
from stream.replay.steps_transaction import BATCH_MAX
from stream.topics import ensure_topics
from tests.chaos.play.cluster import Cluster, running_cluster
from tests.chaos.proxy.faults import Action, EndTxnFault
from tests.stream.cli.conftest import CONFIG
from tests.stream.settled import await_markers

pytestmark = pytest.mark.broker

#: Three transactions; faults meet the second.
LETTERS = 2 * BATCH_MAX + 50
RUN_S = 120


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    try:
        with running_cluster(tmp_path_factory.mktemp("replay-broker"), Random()) as cluster:
            yield cluster
    except BrokerError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))


class Buried:
    """An installation whose dead-letter topic holds `LETTERS`. Its commands reach the broker through the proxy."""

    def __init__(self, cluster: Cluster, folder: Path, prefix: str) -> None:
        self._cluster = cluster
        self._folder = folder
        self._config = folder / "headrace.toml"
        self._config.write_text(CONFIG.format(prefix=prefix, servers=cluster.proxied))
        self.settings: Settings = load_settings(self._config)
        self._log = KafkaLog(cluster.direct, {})
        self.requests = f"{prefix}.requests"
        ensure_topics(self._log.admin(), self.settings)
        self._bury()

    def replay(self, *faults: Action) -> tuple[int, list[str]]:
        """Exit code, and what it told: a line for each letter, then the sum. Its second commit meets the first of
        `faults`, the same asked for again the next one."""
        return self.run("replay", *faults, first=2)

    def run(self, *words: str | Action, first: int = 1) -> tuple[int, list[str]]:
        """The same of any command; its `first` commit meets the first fault among the words."""
        for nth, fault in enumerate((word for word in words if isinstance(word, Action)), start=first):
            self._cluster.proxy.plan.inject(EndTxnFault(self.settings.own_topic("replay"), fault, nth))
        command = [sys.executable, "-m", "stream", "dead-letters"]
        command += [word for word in words if not isinstance(word, Action)]
        command += ["-c", str(self._config)]
        process = subprocess.Popen(
            command, cwd=self._folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._cluster.owned_by(lambda _id: process.kill())
        try:
            out, err = process.communicate(timeout=RUN_S)
        finally:
            process.kill()
        assert not err or "--force" in command
        return process.returncode, out.splitlines()

    def committed(self, topic: str) -> list[Record]:
        await_markers(self._log.admin(), topic)
        with closing(self._log.reader([topic])) as reader:
            return list(reader.to_end(RUN_S))

    def _bury(self) -> None:
        failure = Failure(ErrorClass.INVALID, Stage.VALIDATE, "the reason")
        with closing(self._log.plain_producer()) as producer:
            for number in range(LETTERS):
                source = Source(self.requests, 0, number)
                letter = DeadLetter(None, str(source).encode(), (), source, 0, "group", failure)
                producer.send(Output(self.settings.outputs.dead_letters, *write_dead_letter(letter), 0))
            assert producer.flush(30) == 0


@pytest.fixture
def buried(cluster: Cluster, unique: Callable[[str], str], tmp_path: Path) -> Buried:
    return Buried(cluster, tmp_path, unique("replay"))


def assert_each_is_back_once(buried: Buried) -> None:
    """For who reads committed records; and each has one marker, which names it."""
    everyone = dict.fromkeys((f"{buried.requests}/0/{number}" for number in range(LETTERS)), 1)
    back = buried.committed(buried.requests)
    assert Counter((record.value() or b"").decode() for record in back) == everyone
    assert {tuple(record.headers() or []) for record in back} == {((REPLAY, b"1"),)}
    markers = buried.committed(buried.settings.own_topic("replays"))
    assert Counter(json.loads(marker.value() or b"")["source"] for marker in markers) == everyone
    assert {marker.key(): json.loads(marker.value() or b"")["source"] for marker in markers} == {
        b"0/%d" % number: f"{buried.requests}/0/{number}" for number in range(LETTERS)
    }


@pytest.mark.parametrize(
    ("fault", "done"),
    [
        # Originals and markers are written, their end is not: nobody may ever see them.
        (Action.KILL_BEFORE, BATCH_MAX),
        # The end is written; nobody heard of it.
        (Action.KILL_AFTER, 2 * BATCH_MAX),
    ],
)
def test_a_replay_that_is_killed_and_started_again_puts_each_letter_back_once(
    cluster: Cluster, buried: Buried, fault: Action, done: int
) -> None:
    before = cluster.proxy.plan.bitten[fault]
    code, told = buried.replay(fault)
    assert (code, len(told), cluster.proxy.plan.bitten[fault]) == (-9, BATCH_MAX, before + 1)
    code, told = buried.replay()
    assert (code, told[-1]) == (0, f"{LETTERS - done} replayed, {done} were replayed before, 0 refused")
    assert_each_is_back_once(buried)


@pytest.mark.parametrize(
    "faults",
    [
        # The client asks again, and is told.
        [Action.SEVER_RESPONSE],
        # Asked for twice in 30 s, it is given up as unknown: the markers tell that it was committed.
        [Action.DROP_RESPONSE, Action.DROP_RESPONSE],
    ],
    ids=["told when asked again", "never told"],
)
def test_a_replay_that_does_not_hear_of_its_commit_puts_each_letter_back_once(
    cluster: Cluster, buried: Buried, faults: list[Action]
) -> None:
    before = cluster.proxy.plan.bitten.total()
    code, told = buried.replay(*faults)
    assert cluster.proxy.plan.bitten.total() == before + len(faults)
    assert (code, told[-1]) == (0, f"{LETTERS} replayed, 0 were replayed before, 0 refused")
    assert_each_is_back_once(buried)
    code, told = buried.replay()
    assert (code, told[-1]) == (0, f"0 replayed, {LETTERS} were replayed before, 0 refused")


@pytest.mark.parametrize(
    ("fault", "done"), [(Action.KILL_BEFORE, BATCH_MAX), (Action.KILL_AFTER, 2 * BATCH_MAX)]
)
def test_a_resolve_that_is_killed_and_started_again_closes_each_letter_once(
    buried: Buried, fault: Action, done: int
) -> None:
    words = ("resolve", "--all", "--reason", "a hunt")
    code, told = buried.run(*words, fault, first=2)
    assert (code, len(told)) == (-9, BATCH_MAX)
    code, told = buried.run(*words)
    left = f"{LETTERS - done} closed, 0 were replayed before, {done} were closed before, 0 refused"
    assert (code, told[-1]) == (0, left)
    assert not buried.committed(buried.requests)
    markers = buried.committed(buried.settings.own_topic("replays"))
    assert sorted(marker.key() or b"" for marker in markers) == sorted(
        b"0/%d" % number for number in range(LETTERS)
    )
    assert {json.loads(marker.value() or b"")["kind"] for marker in markers} == {"closed"}
    code, told = buried.replay()
    assert (code, told[-1]) == (
        0,
        f"0 replayed, 0 were replayed before, {LETTERS} were closed before, 0 refused",
    )


@pytest.mark.parametrize("fault", [Action.KILL_BEFORE, Action.KILL_AFTER])
def test_an_edit_that_is_killed_and_started_again_goes_back_once(
    buried: Buried, fault: Action, tmp_path: Path
) -> None:
    (tmp_path / "new").write_bytes(b"edited")
    words = ("edit", "0/7", "--value", str(tmp_path / "new"), "--force")
    assert buried.run(*words, fault)[0] == -9
    code, told = buried.run(*words)
    source = f"{buried.requests}/0/7"
    assert (code, told) == {
        Action.KILL_BEFORE: (0, [f"{source}  edited"]),
        Action.KILL_AFTER: (1, [f"{source}  was replayed before: with an edited value"]),
    }[fault]
    assert [record.value() for record in buried.committed(buried.requests)] == [b"edited"]
    code, told = buried.replay()
    assert told[-1] == f"{LETTERS - 1} replayed, 1 were replayed before, 0 refused"
