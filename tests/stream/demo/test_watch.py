"""Watching outputs come: what was seen done stays done, whoever is killed meanwhile."""

from __future__ import annotations

import io
from contextlib import closing

import msgspec
from rich.console import Console

from schemas import headers as names
from stream.client.client import Client
from stream.config.settings import Settings
from stream.demo.run import watch
from stream.demo.show import progress_bar
from stream.log.base import Output, TopicDescription
from stream.log.memory.log import MemoryLog

OUTPUTS = Settings().outputs
ANSWER = msgspec.json.encode({"response": {"body": {"choices": [{"message": {"content": "fine"}}]}}})


def answered(log: MemoryLog, number: int) -> None:
    with closing(log.plain_producer()) as producer:
        producer.send(Output(OUTPUTS.results, None, ANSWER, [(names.SOURCE, b"in/0/%d" % number)]))
        producer.flush(5)


def test_a_second_watch_reads_all_again_and_its_progress_does_not_jump_back() -> None:
    log = MemoryLog()
    log.admin().create([TopicDescription(name, 1, {}) for name in (OUTPUTS.results, OUTPUTS.dead_letters)], 5)
    with progress_bar(Console(file=io.StringIO(), width=80)) as bar:
        client = Client(log, Settings())
        task = bar.add_task("answers", total=4, rate="")
        for number in range(3):
            answered(log, number)
        assert len(watch(client, 2, bar, task)) == 3
        assert bar.tasks[0].completed == 3
        answered(log, 3)
        assert [one.text for one in watch(client, 4, bar, task)] == ["fine"] * 4
        assert bar.tasks[0].completed == 4
