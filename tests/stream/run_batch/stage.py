"""A batch on the log in memory, with a service that answers what a test tells it to."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

import msgspec

from schemas.failure import ErrorClass, Failure, Stage
from schemas.headers import Headers
from schemas.lane import Lane
from schemas.result import Facts, answer_value, error_value, result_headers
from schemas.source import Source
from stream.client.progress import Progress
from stream.config.settings import Settings
from stream.log.base import Output, Record
from stream.log.memory.log import MemoryLog
from stream.run_batch.batch import Batch
from stream.run_batch.dependencies import BatchDependencies
from stream.run_batch.feeder import Feeder
from stream.run_batch.files import opened_files
from stream.run_batch.fingerprint import fingerprint
from stream.run_batch.folder import BatchFolder
from stream.run_batch.quiet import Quiet
from stream.run_batch.reply_topic import PARTITIONS, create_reply_topic
from stream.run_batch.source import count, make_source
from stream.run_batch.state import State
from stream.run_batch.wanted import Wanted
from stream.topics import ensure_topics
from workers.endpoint import Endpoint

BATCH = "b1"
REPLY = "headrace.replies.batch-b1"
SETTINGS = Settings(endpoints={"sim": Endpoint("sim", engine="simulated", partitions=1)})
REQUESTS = SETTINGS.inputs[0].pattern


class Silent:
    """Shows nothing and remembers it."""

    def __init__(self) -> None:
        self.seen: list[Progress] = []
        self.said: list[str] = []

    def update(self, progress: Progress, now_s: float) -> None:
        self.seen.append(progress)

    def say(self, words: str) -> None:
        self.said.append(words)


class StageOfBatch:
    """Topics, an input, a folder; each `run` is a process of its own, as it were."""

    def __init__(self, wanted: Wanted) -> None:
        self.wanted = wanted
        self.log = MemoryLog()
        ensure_topics(self.log.admin(), SETTINGS)
        create_reply_topic(self.log.admin(), SETTINGS, REPLY)
        self.folder = BatchFolder(wanted.output)
        self.folder.path.mkdir()
        self.source = make_source(wanted, SETTINGS, started=False)
        self.show = Silent()
        self._answered = 0
        self.folder.write(self._new())

    def _new(self) -> State:
        dead = SETTINGS.outputs.dead_letters
        places = [f"{REPLY}/{number}" for number in range(PARTITIONS)] + [f"{dead}/{n}" for n in range(4)]
        return State(
            batch=BATCH,
            input=str(self.wanted.input),
            fingerprint=fingerprint(self.wanted.input),
            rows=count(self.wanted, SETTINGS),
            options=self.wanted.shape,
            topic=REQUESTS,
            reply_topic=REPLY,
            state_dir="",
            own=False,
            config=None,
            positions=dict.fromkeys(places, 0),
        )

    def run(self, watch: Callable[[], None] | None = None) -> State:
        """Go on from the state on disk; `watch` is asked at each turn, and answers in the service's place."""
        state = self.folder.read()
        assert state is not None
        with ExitStack() as stack:
            answers, in_order = stack.enter_context(opened_files(self.wanted, self.folder, state))
            feeder = Feeder(self.log, self.source.rows, BATCH, "run-batch.b1", (REQUESTS, REPLY))
            stack.enter_context(closing(feeder))
            quiet = Quiet(lambda: True, self.show.say, time.monotonic())
            check = watch or self.answer_all
            parts = BatchDependencies(
                self.log, feeder, answers, in_order, self.folder, self.show, quiet, check
            )
            return Batch(state, parts).run()

    def requests(self) -> list[Record]:
        """Everything on the input topic."""
        with closing(self.log.reader([REQUESTS])) as reader:
            return list(reader.to_end(5))

    def answer_all(self) -> None:
        for record in sorted(self.requests(), key=lambda one: one.timestamp()[1])[self._answered :]:
            self.answer(record)
            self._answered += 1

    def answer(self, record: Record, failure: Failure | None = None, topic: str = REPLY) -> None:
        """A result line as the service writes it."""
        source = Source(record.topic(), record.partition(), record.offset())
        facts = Facts(source, "sim", None, Lane.BATCH, 1)
        name = custom_id(record)
        if failure is None:
            text = f"answer to {name}"
            body = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}}]}
            value = answer_value(facts, name, body)
        else:
            value = error_value(facts, name, failure)
        self.put(topic, value, result_headers(source, 0, 1, passing(record)))

    def put(self, topic: str, value: bytes, headers: Headers) -> None:
        with closing(self.log.plain_producer()) as producer:
            producer.send(Output(topic, None, value, headers))
            producer.flush(5)


INVALID = Failure(ErrorClass.INVALID, Stage.VALIDATE, "the reason")


def passing(record: Record) -> Headers:
    return [header for header in record.headers() or [] if not header[0].startswith("headrace-")]


def custom_id(record: Record) -> str | None:
    try:
        found = msgspec.json.decode(record.value() or b"")
    except msgspec.DecodeError:
        return None
    name = found.get("custom_id")
    return name if isinstance(name, str) else None


def request_line(name: str | None, text: str = "hello", model: str = "sim") -> str:
    line = {
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": {"model": model, "messages": [{"role": "user", "content": text}]},
    }
    return msgspec.json.encode(line if name is None else {"custom_id": name, **line}).decode()


def requests_file(folder: Path, names: list[str | None]) -> Path:
    path = folder / "in.jsonl"
    path.write_text("\n".join(request_line(name) for name in names) + "\n", encoding="utf-8")
    return path
