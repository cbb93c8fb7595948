"""The whole play, once: reply topics that change under way, bad records among good ones, a registry that is down."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from confluent_kafka import Message
from confluent_kafka.admin import AdminClient

from schemas.avro_line import REQUEST_LINE
from schemas.lane import LANES
from tests.acceptance import avro_cases, dispatcher_cases, odd_cases, worker_cases
from tests.acceptance.case import ENDPOINT, RESULTS, UNWRITABLE_LATE, Case, line, reply_to, simulated
from tests.acceptance.kafka_view import (
    create_topic,
    delete_topic,
    make_compacted,
    open_ends,
    read,
    reading,
    send,
)
from tests.acceptance.service import Service, running
from tests.schemas.registry_server import RegistryServer, Reply, registry_server, schema_reply

SMALL, COMPACTED = "headrace.replies.small", "headrace.replies.compacted"
DELETED, TURNED = "headrace.replies.deleted", "headrace.replies.turned"
DEAD_LETTERS = "headrace.dead-letters"
OUTPUTS_S = 240.0
#: After the last expected output: a second one would come in this time.
QUIET_S = 1.0
DOWN = Reply(503, (b"{}",))
#: Until the answer comes, the topics must have changed; the other cases take longer than this.
CHANGE = "sleep:8"

CHANGED_CASES = [
    Case("a reply topic deleted in mid-run", simulated(CHANGE), UNWRITABLE_LATE, reply_to(DELETED)),
    Case("a reply topic compacted in mid-run", simulated(CHANGE), UNWRITABLE_LATE, reply_to(TURNED), None),
]
MIXED_CASES = [*dispatcher_cases.CASES, *worker_cases.CASES, *odd_cases.CASES, *avro_cases.CASES]
CASES = {case.name: case for case in (*CHANGED_CASES, *MIXED_CASES)}
NEIGHBOUR = "a good neighbour"


@dataclass(frozen=True)
class Outcome:
    """What the play ended with."""

    #: Position -> what was sent there.
    sent: Mapping[str, Case]
    #: Position of the input -> its outputs.
    outputs: Mapping[str, list[Message]]
    #: Names of the cases that had an output while the registry was down.
    answered_while_down: frozenset[str]
    open_ends: Mapping[str, tuple[int, int]]
    processes: tuple[object, object]
    #: Whether the broker's data lay in the state directory.
    data_in_place: bool

    def of(self, name: str) -> list[tuple[str, Message]]:
        """(topic, message) of each output of a case."""
        places = [place for place, case in self.sent.items() if case.name == name]
        return [(str(found.topic()), found) for place in places for found in self.outputs.get(place, [])]


def source_of(message: Message) -> str:
    """Position of the input, as the output's header says."""
    return str(dict(message.headers() or [])["headrace-source"], "ascii")


def play(folder: Path) -> Outcome:
    """Start everything, send everything, read everything, stop everything."""
    with registry_server() as registry:
        registry.replies[f"/schemas/ids/{avro_cases.KNOWN_ID}"] = DOWN
        with running(folder, registry.url) as service:
            return _played(service, registry)


def _played(service: Service, registry: RegistryServer) -> Outcome:
    servers = service.bootstrap_servers
    admin = AdminClient({"bootstrap.servers": servers})
    for topic in (DELETED, TURNED):
        create_topic(admin, topic)
    create_topic(admin, SMALL, max_message_bytes="3000")
    create_topic(admin, COMPACTED, cleanup_policy="compact")
    sent = send(servers, CHANGED_CASES)
    _await_routed(servers, len(sent))
    delete_topic(admin, DELETED)
    make_compacted(admin, TURNED)
    sent |= send(servers, chain.from_iterable(_among_neighbours()))
    down, outputs = _read_all(servers, sent, registry)
    ends, processes = _settled(admin), (service.processes_at_start, service.processes())
    return Outcome(sent, outputs, down, ends, processes, service.has_data(RESULTS))


def _among_neighbours() -> Iterator[tuple[Case, ...]]:
    for number, case in enumerate(MIXED_CASES):
        good = [
            Case(NEIGHBOUR, line(custom_id="r-1"), key=b"n-%d" % ((number + more) % 7)) for more in (0, 1)
        ]
        yield good[0], case, good[1]


def _await_routed(servers: str, count: int) -> None:
    """The dispatcher looked at the reply topics; the answers are not written yet."""
    with reading(servers, [f"headrace.work.{ENDPOINT}.{lane}" for lane in LANES]) as consumer:
        assert len(read(consumer, lambda found: len(found) >= count, OUTPUTS_S)) == count


def _read_all(
    servers: str, sent: Mapping[str, Case], registry: RegistryServer
) -> tuple[frozenset[str], dict[str, list[Message]]]:
    """Until each input has an output and it was quiet; the registry comes up when all others have one."""
    others = sum(case.topic != avro_cases.WIRE for case in sent.values())
    with reading(servers, [RESULTS, DEAD_LETTERS, SMALL, COMPACTED, TURNED]) as consumer:
        found = read(consumer, lambda new: _inputs(new, sent, avro_cases.WIRE) >= others, OUTPUTS_S)
        down = frozenset(sent[source_of(message)].name for message in found if source_of(message) in sent)
        registry.replies[f"/schemas/ids/{avro_cases.KNOWN_ID}"] = schema_reply(REQUEST_LINE)
        found += read(consumer, lambda new: _inputs([*found, *new], sent) >= len(sent), OUTPUTS_S)
        found += read(consumer, lambda _new: False, QUIET_S)
    outputs: dict[str, list[Message]] = defaultdict(list)
    for message in found:
        outputs[source_of(message)].append(message)
    return down, outputs


def _inputs(found: list[Message], sent: Mapping[str, Case], without: str | None = None) -> int:
    """How many of what was sent has an output by now, those of one topic left out."""
    sources = {source_of(message) for message in found}
    return sum(place in sent and sent[place].topic != without for place in sources)


def _settled(admin: AdminClient) -> dict[str, tuple[int, int]]:
    """A transaction's end marker is written a moment after its commit was confirmed."""
    deadline = time.monotonic() + 60
    while (ends := open_ends(admin)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return ends
