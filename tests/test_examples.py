"""What lies in examples/ and what the tutorial says is what the program takes."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from schemas.decode import Decoder
from schemas.result import Facts, answer_value
from schemas.source import Source
from stream.broker import EmbeddedBroker
from stream.cli.parser import parse
from stream.config.load import load_settings
from stream.log.base import Output, TopicDescription
from stream.log.kafka.log import KafkaLog
from stream.run_batch.row import Mark
from stream.run_batch.source import make_source
from stream.run_batch.wanted import Wanted

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")


def commands() -> list[str]:
    """The lines of the tutorial that a reader types, a line that goes on with a backslash as one."""
    indented = re.sub(r" \\\n\s+", " ", TUTORIAL)
    return re.findall(r"^    (headrace .*?)(?:\s+#.*)?$", indented, re.MULTILINE)


def test_every_request_is_one_that_the_built_in_endpoint_takes() -> None:
    requests = [Decoder().decode(line) for line in (EXAMPLES / "requests.jsonl").read_bytes().splitlines()]
    assert {request.endpoint for request in requests} == set(load_settings(None).endpoints)
    assert len({request.custom_id for request in requests}) == len(requests)


def test_every_row_of_the_reviews_makes_a_request_of_the_tutorial(tmp_path: Path) -> None:
    wanted = Wanted(
        EXAMPLES / "reviews.csv", tmp_path / "out.csv", prompt="{text}", id_column="id", key_column="shop"
    )
    rows = list(make_source(wanted, load_settings(None), started=False).rows.read(Mark()))
    assert len(rows) == 16
    assert all(Decoder().decode(row.value).custom_id for row in rows)


def test_the_configuration_is_right() -> None:
    settings = load_settings(EXAMPLES / "headrace.toml")
    assert set(settings.endpoints) == {"smollm2", "sim"}


def test_the_commands_of_the_tutorial_are_commands_and_the_files_are_there() -> None:
    found = commands()
    assert len(found) >= 4
    for line in found:
        words = [word for word in shlex.split(line)[1:] if word != "--help"]
        parse(words)
        for name in re.findall(r"examples/\S+", line):
            assert (ROOT / name).is_file(), name


@pytest.mark.broker
def test_the_consumer_prints_each_answer(kafka: EmbeddedBroker, unique: Callable[[str], str]) -> None:
    log, topic = KafkaLog(kafka.bootstrap_servers, {}), unique("results")
    log.admin().create([TopicDescription(topic, 1, {})], 30)
    facts = Facts(Source("in", 0, 0), "sim", None, None, 1)
    with closing(log.plain_producer()) as producer:
        producer.send(Output(topic, None, answer_value(facts, "r-1", {"choices": []}), []))
        assert producer.flush(30) == 0
    words = [sys.executable, str(EXAMPLES / "consumer.py"), kafka.bootstrap_servers, topic]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as consumer:
        try:
            assert consumer.stdout is not None
            assert consumer.stdout.readline() == "r-1 {'choices': []}\n"
        finally:
            consumer.kill()
