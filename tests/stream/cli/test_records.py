"""produce and consume, on a real broker."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from base64 import b64encode
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from stream.cli import consume
from stream.client.deadline import Deadline
from stream.client.record_line import record_line
from stream.log.base import Output, Record, TopicDescription
from tests.stream.cli.conftest import Installed, Run
from tests.stream.settled import await_markers

pytestmark = pytest.mark.broker


@pytest.fixture
def topic(installed: Installed, unique: Callable[[str], str]) -> str:
    """An empty topic of one partition, so that its order is known."""
    name = unique("records")
    installed.log.admin().create([TopicDescription(name, 1, {})], 30)
    return name


def put(installed: Installed, *outputs: Output) -> None:
    with closing(installed.log.plain_producer()) as producer:
        for output in outputs:
            producer.send(output)
        assert producer.flush(30) == 0


def test_lines_go_in_as_they_are_and_come_out_again(
    run: Run, installed: Installed, topic: str, tmp_path: Path
) -> None:
    lines = [
        b'{"a": 1}',
        b"  not json \r",
        "ünï\u2028code".encode(),
        b"\xff\xfe",
        b'"' + b"x" * 100_000 + b'"',
    ]
    file = tmp_path / "lines"
    file.write_bytes(b"\n \n".join(lines) + b"\n\n")
    produced = run("produce", topic, str(file), "-c", str(installed.config))
    assert produced == (0, f"produced 5 records to {topic}\nlast {topic}/0/4\n", "")
    seen = run("consume", topic, "-c", str(installed.config)).lines
    assert [one["offset"] for one in seen] == [0, 1, 2, 3, 4]
    assert [one["encoding"] for one in seen] == ["json", "text", "text", "base64", "json"]
    assert seen[0]["value"] == {"a": 1}
    assert seen[1]["value"] == "  not json \r"
    assert seen[3]["value"] == b64encode(b"\xff\xfe").decode()
    assert all(one["key"] is None and one["headers"] == [] for one in seen)
    whole = run("consume", topic, "--bytes", "-c", str(installed.config)).lines
    assert [one["value"] for one in whole] == [b64encode(line).decode() for line in lines]


def test_lane_tenant_and_session_become_headers_and_the_key(
    run: Run, installed: Installed, topic: str, tmp_path: Path
) -> None:
    file = tmp_path / "lines"
    file.write_bytes(b"{}\n")
    options = ("--lane", "interactive", "--tenant", "acme", "--session", "s-1", "-c", str(installed.config))
    assert run("produce", topic, str(file), *options).code == 0
    [seen] = run("consume", topic, "-c", str(installed.config)).lines
    assert seen["key"] == "s-1"
    assert seen["headers"] == [
        ["headrace-lane", "interactive"],
        ["headrace-tenant", "acme"],
        ["headrace-session", "s-1"],
    ]


def test_a_line_without_its_session_field_is_told_and_the_others_go(
    run: Run, installed: Installed, topic: str, tmp_path: Path
) -> None:
    rows = ['{"body": {"user": "ann"}}', "nonsense", '{"body": {"user": 7}}', '{"body": {}}']
    file = tmp_path / "lines"
    file.write_text("\n".join(rows))
    ended = run(
        "produce", topic, str(file), "--session-field", "body.user", "-c", str(installed.config), "--json"
    )
    assert ended.code == 1
    assert json.loads(ended.out) == {"topic": topic, "records": 2, "failed": 2, "last": [f"{topic}/0/1"]}
    told = ended.err.splitlines()
    assert told[0].startswith("headrace: line 2: is not JSON")
    assert told[1:] == ["headrace: line 4: has no text or whole number at 'body.user'"]
    assert [one["key"] for one in run("consume", topic, "-c", str(installed.config)).lines] == ["ann", "7"]


def test_a_line_that_the_topic_does_not_take_is_told_and_its_neighbours_go(
    run: Run, installed: Installed, unique: Callable[[str], str], tmp_path: Path
) -> None:
    topic = unique("narrow")
    installed.log.admin().create([TopicDescription(topic, 1, {"max.message.bytes": "5000"})], 30)
    file = tmp_path / "lines"
    file.write_bytes(b"small\n" + b"x" * 6000 + b"\nalso small")
    ended = run("produce", topic, str(file), "-c", str(installed.config))
    assert ended.code == 1
    assert ended.out.startswith(f"produced 2 records to {topic}, 1 lines failed\n")
    assert ended.err == f"headrace: line 2: is longer than {topic} takes\n"


def test_a_topic_that_does_not_exist_is_answered_with_the_nearest(run: Run, installed: Installed) -> None:
    for words in (("consume",), ("produce", "/dev/null")):
        ended = run(words[0], installed.requests + "s", *words[1:], "-c", str(installed.config))
        assert ended.code == 2
        assert f'did you mean "{installed.requests}"?' in ended.err


@pytest.mark.parametrize("own", ["results", "dead-letters", "usage", "workers", "work.sim.batch"])
def test_nothing_is_produced_into_a_topic_that_headrace_alone_writes(
    run: Run, installed: Installed, own: str
) -> None:
    topic = installed.requests.replace("requests", own)
    ended = run("produce", topic, "/dev/null", "-c", str(installed.config))
    assert ended.code == 2
    assert f"'{topic}' is Headrace's own" in ended.err
    assert f"records go to an input topic: {installed.requests}" in ended.err


def test_a_file_that_does_not_exist_is_a_usage_error(run: Run, installed: Installed, topic: str) -> None:
    ended = run("produce", topic, "no-such-file", "-c", str(installed.config))
    assert (ended.code, ended.err) == (
        2,
        "headrace: no-such-file cannot be read: No such file or directory\n",
    )


def test_a_tombstone_binary_keys_and_null_headers_are_told_as_they_are(
    run: Run, installed: Installed, topic: str
) -> None:
    put(installed, Output(topic, b"\xffk", None, [("h", None), ("h", b""), ("h", "ü".encode())]))
    [seen] = run("consume", topic, "-c", str(installed.config)).lines
    assert (seen["encoding"], seen["value"]) == (None, None)
    assert seen["key"] == "\\xffk"
    assert seen["headers"] == [["h", None], ["h", ""], ["h", "ü"]]
    [whole] = run("consume", topic, "--bytes", "-c", str(installed.config)).lines
    assert (whole["encoding"], whole["value"], whole["key"]) == (None, None, b64encode(b"\xffk").decode())
    assert whole["headers"] == [["h", None], ["h", ""], ["h", b64encode("ü".encode()).decode()]]


def test_an_empty_topic_is_at_its_end_at_once(run: Run, installed: Installed, topic: str) -> None:
    assert run("consume", topic, "-c", str(installed.config)) == (0, "", "")


def test_a_count_ends_it_and_a_count_that_does_not_come_is_exit_3(
    run: Run, installed: Installed, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(installed, *(Output(topic, None, b"%d" % number, []) for number in range(5)))
    assert [
        one["value"] for one in run("consume", topic, "--count", "3", "-c", str(installed.config)).lines
    ] == [0, 1, 2]
    time_is_up_after(5, monkeypatch)
    ended = run("consume", topic, "--count", "6", "--timeout", "30", "-c", str(installed.config))
    assert (ended.code, len(ended.lines)) == (3, 5)
    assert ended.err == "headrace: 5 records in 30 s, 6 were asked for\n"


def time_is_up_after(records: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the broker takes for these, and not a moment later."""
    written: list[Record] = []
    line = record_line

    def noted(record: Record, *, as_bytes: bool) -> str:
        written.append(record)
        return line(record, as_bytes=as_bytes)

    def clocked(timeout_s: float) -> Deadline:
        return Deadline(timeout_s, lambda: timeout_s if len(written) >= records else 0.0)

    monkeypatch.setattr(consume, "record_line", noted)
    monkeypatch.setattr(consume, "Deadline", clocked)


def test_from_latest_what_was_there_before_is_not_seen(run: Run, installed: Installed, topic: str) -> None:
    put(installed, Output(topic, None, b"old", []))
    words = (
        "consume",
        topic,
        "--from",
        "latest",
        "--count",
        "1",
        "--timeout",
        "1",
        "-c",
        str(installed.config),
    )
    assert run(*words).code == 3
    assert run("consume", topic, "--from", "latest", "-c", str(installed.config)) == (0, "", "")


def test_aborted_and_open_records_are_not_seen(run: Run, installed: Installed, topic: str) -> None:
    producer = installed.log.producer(f"{topic}.tx")
    producer.start(30)

    def fail_after_produce(point: str) -> None:
        if point == "produced":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        producer.publish([Output(topic, None, b"unseen", [])], [], None, reach=fail_after_produce)
    put(installed, Output(topic, None, b"behind", []))
    assert run("consume", topic, "-c", str(installed.config)).out == ""
    producer.close()
    successor = installed.log.producer(f"{topic}.tx")
    successor.start(30)
    successor.publish([Output(topic, None, b"seen", [])], [], None)
    successor.close()
    await_markers(installed.log.admin(), topic)
    values = [one["value"] for one in run("consume", topic, "-c", str(installed.config)).lines]
    assert values == ["behind", "seen"]


def test_a_broker_that_does_not_answer_is_one_line_on_stderr(tmp_path: Path) -> None:
    config = tmp_path / "far.toml"
    config.write_text('[kafka]\nbootstrap_servers = "127.0.0.1:1"\n[endpoints.sim]\nengine = "simulated"\n')
    words = [sys.executable, "-m", "stream", "consume", "t", "-c", str(config)]
    ended = subprocess.run(words, check=False, capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("headrace: no answer from the broker at 127.0.0.1:1: ")
    assert ended.stderr.count("\n") == 1


def test_a_reader_that_has_enough_ends_it_without_complaint(installed: Installed, topic: str) -> None:
    put(installed, *(Output(topic, None, b"x" * 1000, []) for _ in range(2000)))
    words = f"{sys.executable} -m stream consume {topic} -c {installed.config} | head -1"
    ended = subprocess.run(
        ["bash", "-o", "pipefail", "-c", words], check=False, capture_output=True, text=True, timeout=120
    )
    assert (ended.returncode, ended.stderr, ended.stdout.count("\n")) == (0, "", 1)


def test_a_produce_that_is_interrupted_tells_where_to_go_on(installed: Installed, topic: str) -> None:
    words = [sys.executable, "-m", "stream", "produce", topic, "-", "-c", str(installed.config)]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as produce:
        try:
            assert produce.stdin is not None
            produce.stdin.write(b"one\n\ntwo\nthr")
            produce.stdin.flush()
            consume = [sys.executable, "-m", "stream", "consume", topic, "--count", "2", "--timeout", "90"]
            subprocess.run(
                [*consume, "-c", str(installed.config)], check=True, capture_output=True, timeout=120
            )
            produce.send_signal(signal.SIGINT)
            told, errors = produce.communicate(timeout=60)
        finally:
            produce.kill()
    assert (produce.returncode, errors) == (130, b"headrace: stopped after line 3: go on with the next\n")
    assert told.decode() == f"produced 2 records to {topic}\nlast {topic}/0/1\n"


def test_keys_headers_and_values_alone_go_in_and_come_out(
    run: Run, installed: Installed, topic: str, tmp_path: Path
) -> None:
    file, out, config = tmp_path / "lines", tmp_path / "out", ("-c", str(installed.config))
    file.write_text('{"custom_id": "a", "shop": 7}\n{"custom_id": "b", "shop": 8}\n')
    options = ("--key-field", "shop", "--header", "team=blue", "--header-field", "id=custom_id")
    assert run("produce", topic, str(file), *options, *config).code == 0
    seen = run("consume", topic, *config).lines
    assert [one["key"] for one in seen] == ["7", "8"]
    assert seen[1]["headers"] == [["team", "blue"], ["id", "b"]]
    assert run("consume", topic, "--values", *config).out == file.read_text()
    one = run("consume", topic, "--values", "--custom-id", "b", "--count", "1", "--out", str(out), *config)
    assert (one.code, one.out, out.read_text()) == (0, "", '{"custom_id": "b", "shop": 8}\n')
    assert run("consume", topic, "--out", str(tmp_path), *config).err.startswith("headrace: --out ")


def test_followed_records_come_until_ctrl_c(installed: Installed, topic: str) -> None:
    put(installed, Output(topic, None, b"first", []))
    words = [sys.executable, "-m", "stream", "consume", topic, "--follow", "--values"]
    with subprocess.Popen([*words, "-c", str(installed.config)], stdout=subprocess.PIPE) as consume:
        try:
            assert consume.stdout is not None
            assert consume.stdout.readline() == b"first\n"
            put(installed, Output(topic, None, b"second", []))
            assert consume.stdout.readline() == b"second\n"
            consume.send_signal(signal.SIGINT)
            assert consume.wait(60) == 130
        finally:
            consume.kill()
