"""Reads everything back after the roles have stopped, and parses it into evidence."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from confluent_kafka import Message

from schemas import headers as names
from schemas.dead_letter import parse_dead_letter
from schemas.decode import Decoder
from schemas.source import Source
from tests.chaos.check.evidence import Input, Outcome, Place
from tests.chaos.inputs.plan import Planned, number_of
from tests.chaos.play.reading import mark_of, place_of, read_all
from workers.engines.simulated import expected_answer

#: What a result carries beside the producer's own headers.
OURS: Final = (names.VERSION, names.SOURCE, names.SOURCE_TIMESTAMP, names.ATTEMPTS)


class Places(NamedTuple):
    """Which partitions hold what."""

    inputs: Sequence[Place]
    results: Sequence[Place]
    dead_letters: Sequence[Place]
    usage: Sequence[Place]


class ReadBack(NamedTuple):
    """Inputs, outputs and their order, as a read_committed reader has them."""

    inputs: dict[Source, Input]
    outputs: list[Outcome]
    usage: list[Source]
    final: dict[Place, list[tuple[int, int]]]
    expected: dict[Source, str]
    #: Output records that only read_uncommitted shows.
    hidden: int


def read_back(
    bootstrap_servers: str, where: Places, plans: Mapping[int, Planned], dispatcher_group: str
) -> ReadBack:
    """Everything from offset 0."""
    inputs, expected = _inputs(bootstrap_servers, where.inputs, plans)
    places = [*where.results, *where.dead_letters]
    outputs: list[Outcome] = []
    final: dict[Place, list[tuple[int, int]]] = defaultdict(list)
    for message in read_all(bootstrap_servers, places, "read_committed"):
        final[place_of(message)].append(mark_of(message))
        dead = place_of(message) in where.dead_letters
        outputs.append(_dead_letter(message, dispatcher_group) if dead else _result(message))
    everything = sum(1 for _ in read_all(bootstrap_servers, places, "read_uncommitted"))
    usage = [_source(message) for message in read_all(bootstrap_servers, where.usage, "read_committed")]
    return ReadBack(inputs, outputs, usage, dict(final), expected, everything - len(outputs))


def _inputs(
    bootstrap_servers: str, places: Iterable[Place], plans: Mapping[int, Planned]
) -> tuple[dict[Source, Input], dict[Source, str]]:
    inputs: dict[Source, Input] = {}
    expected: dict[Source, str] = {}
    decoder = Decoder()
    for message in read_all(bootstrap_servers, places, "read_committed"):
        number = number_of(message.headers())
        assert number is not None, "an input record that nobody planned"
        plan, source = plans[number], Source(*place_of(message), mark_of(message)[0])
        inputs[source] = _input(source, plan)
        if plan.dies_as is None:
            expected[source] = canonical(expected_answer(decoder.decode(plan.value)))
    return inputs, expected


def _input(source: Source, plan: Planned) -> Input:
    headers = tuple(plan.wire_headers())
    return Input(source, plan.dies_as, plan.order, plan.value, plan.key, headers, plan.dies_at)


def canonical(body: Mapping[str, Any]) -> str:
    """One text for one answer, whatever the order of its keys."""
    return json.dumps(msgspec.to_builtins(body), sort_keys=True)


def _headers(message: Message) -> dict[str, str]:
    """Those of ours as text; a producer's own may be anything."""
    found = message.headers() or []
    return {
        name: value.decode() if isinstance(value, bytes) else value
        for name, value in found
        if value is not None and name.startswith(names.OWN_PREFIX) and not name.startswith(names.KEPT_PREFIX)
    }


def _source(message: Message) -> Source:
    return Source.parse(_headers(message)[names.SOURCE])


def _dead_letter(message: Message, dispatcher_group: str) -> Outcome:
    letter = parse_dead_letter(message.key(), message.value(), message.headers())
    return Outcome(
        _source(message),
        place_of(message),
        mark_of(message)[0],
        letter.failure.error_class,
        original=message.value(),
        key=message.key(),
        headers=tuple(letter.original_headers),
        stage=letter.failure.stage,
        worked=letter.group != dispatcher_group,
    )


def _result(message: Message) -> Outcome:
    headers, source = _headers(message), _source(message)
    result = json.loads(message.value() or b"")
    ours = result["headrace"]
    assert Source(**ours["source"]) == source, f"a result's body and header name different sources: {source}"
    sent_ms = int(headers[names.SOURCE_TIMESTAMP])
    return Outcome(
        source,
        place_of(message),
        mark_of(message)[0],
        None,
        canonical(result["response"]["body"]),
        key=message.key(),
        headers=tuple(header for header in message.headers() or () if header[0] not in OURS),
        ran_ms=(sent_ms + ours["times_ms"]["dispatched"], sent_ms + ours["times_ms"]["done"]),
    )
