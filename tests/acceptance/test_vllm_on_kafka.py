"""A real vLLM behind a real Kafka: its engine's process is killed in the middle, and only the calls notice."""

from __future__ import annotations

import importlib.util
import json
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from confluent_kafka import Message

from schemas import headers as names
from schemas.dead_letter import parse_dead_letter
from stream.demo.installation import DemoInstallation
from tests.acceptance.case import INVALID, RESULTS, UNREADABLE, Case, line
from tests.acceptance.kafka_view import read, reading, send
from tests.acceptance.play import DEAD_LETTERS, source_of
from tests.acceptance.service import Service
from tests.walks import children_called
from workers.journal import journal_path, read_totals
from workers.models import cache_folder
from workers.tiny_model import tiny_model

# vLLM and torch warn as they are imported; their warnings are not ours.
pytestmark = [
    pytest.mark.broker,
    pytest.mark.vllm,
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.timeout(900),
]

WORKER = "worker-tiny-00"
SLOTS = 8
TOKENS = 200
COLOURS = ["red", "green"]
CONFIG = """
[endpoints.tiny]
engine = "vllm"
model = "{model}"
partitions = 4
slots = {slots}
options = {{ max_model_len = 256, dtype = "float32", kv_cache_memory_bytes = 67108864 }}
"""
CHATS = [
    Case("a chat", line(body_model="tiny", body_max_tokens=TOKENS, body_temperature=0), key=b"%d" % number)
    for number in range(40)
]
CHOICES = [
    Case("a choice", line(body_model="tiny", body_structured_outputs={"choice": COLOURS}), key=b"%d" % number)
    for number in range(8)
]
BAD = [
    Case("no pattern", line(body_model="tiny", body_structured_outputs={"regex": "((("}), INVALID),
    Case("no JSON", b"{", UNREADABLE),
]
#: Each kind is under way when the engine dies.
CASES = [*CHATS[:4], *CHOICES[:2], *BAD, *CHATS[4:], *CHOICES[2:]]
OUTPUTS_S = 240.0
#: After the last expected output: a second one would come in this time.
QUIET_S = 1.0


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    if importlib.util.find_spec("vllm") is None and not os.environ.get("CI"):
        pytest.skip("vLLM is not installed")
    config, state_dir = tmp_path / "headrace.toml", tmp_path / "state"
    state_dir.mkdir()
    config.write_text(CONFIG.format(model=tiny_model(cache_folder(os.environ)), slots=SLOTS))
    installation = DemoInstallation(config, state_dir)
    try:
        yield Service(installation.wait_ready(), state_dir)
    finally:
        installation.stop()


def engine_core(worker_pid: int) -> psutil.Process:
    [core] = children_called("EngineCor", worker_pid)
    return core


def kill_engine_at_work(service: Service, worker_pid: int) -> psutil.Process:
    """As soon as all its slots are taken: a call lasts a good part of a second."""
    journal = journal_path(service.state_dir, WORKER)
    deadline = time.monotonic() + OUTPUTS_S
    while read_totals(journal).starts < SLOTS:
        assert time.monotonic() < deadline, "no calls began"
        time.sleep(0.01)
    core = engine_core(worker_pid)
    core.kill()
    return core


def outputs_of(service: Service, count: int) -> dict[str, list[Message]]:
    """Position of an input -> its outputs."""
    found: dict[str, list[Message]] = defaultdict(list)
    with reading(service.bootstrap_servers, [RESULTS, DEAD_LETTERS]) as consumer:
        for message in read(consumer, lambda new: len(new) >= count, OUTPUTS_S):
            found[source_of(message)].append(message)
        for message in read(consumer, lambda _new: False, QUIET_S):
            found[source_of(message)].append(message)
    return found


def answer_of(message: Message) -> tuple[str, str, dict[str, int]]:
    """Text, finish_reason and usage."""
    assert message.topic() == RESULTS, message.headers()
    response = json.loads(message.value() or b"")["response"]
    assert response["status_code"] == 200
    body: dict[str, Any] = response["body"]
    [choice] = body["choices"]
    usage = body["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    return choice["message"]["content"], choice["finish_reason"], usage


def attempts_of(message: Message) -> int:
    return int(dict(message.headers() or [])[names.ATTEMPTS] or b"")


def test_a_killed_engine_comes_back_in_its_worker_and_each_input_has_one_output(service: Service) -> None:
    before = service.processes()
    worker_pid = before[WORKER][0]
    sent = send(service.bootstrap_servers, CASES)
    killed = kill_engine_at_work(service, worker_pid)
    outputs = outputs_of(service, len(sent))

    assert {place: len(found) for place, found in outputs.items()} == dict.fromkeys(sent, 1)
    assert service.processes() == before
    assert engine_core(worker_pid).pid != killed.pid
    of: dict[str, list[Message]] = defaultdict(list)
    for place, [message] in outputs.items():
        of[sent[place].name].append(message)

    chats = [answer_of(message) for message in of["a chat"]]
    assert {(reason, usage["completion_tokens"]) for _, reason, usage in chats} == {("length", TOKENS)}
    assert len({(text, usage["prompt_tokens"]) for text, _, usage in chats}) == 1
    for text, reason, _ in map(answer_of, of["a choice"]):
        assert (text in COLOURS, reason) == (True, "stop")
    for case in BAD:
        [message] = of[case.name]
        letter = parse_dead_letter(message.key(), message.value(), message.headers())
        assert (str(letter.failure.error_class), str(letter.failure.stage)) == case.dies_as

    answered = [attempts_of(message) for message in [*of["a chat"], *of["a choice"]]]
    assert set(answered) == {1, 2}, "no call was in the engine, or one was made more than twice"
    assert 1 <= answered.count(2) <= SLOTS
