"""The seeded generator: a mix of sessions, lanes, durations and faults on demand, the same for the same seed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from schemas import headers as names
from schemas.failure import ErrorClass
from schemas.headers import Headers
from schemas.lane import LANES, Lane
from tests.chaos.inputs.bad import bad_records
from tests.chaos.inputs.odd import ODD
from tests.chaos.inputs.plan import OrderKey, Planned


@dataclass(frozen=True, slots=True)
class Mix:
    """Shares are probabilities of a record; durations are seconds of engine time."""

    endpoint: str = "sim"
    partitions: int = 4
    sessions: int = 12
    #: Records without a session go in any order.
    session_share: float = 0.5
    #: Of those with one: they ask to stand outside it.
    unordered_share: float = 0.1
    bad_share: float = 0.05
    sleep_mean_s: float = 0.08
    sleep_max_s: float = 2.0
    #: Each of these many records, spread evenly, takes `long_s`.
    long_records: int = 0
    long_s: float = 60.0
    #: Answers larger than the results topic takes.
    too_large_share: float = 0.0
    too_large_bytes: int = 0
    #: One failed attempt, then an answer.
    transient_share: float = 0.05
    #: Records that kill their worker process.
    poison_records: int = 0


def generate(rng: Random, mix: Mix, count: int, first_number: int = 0) -> list[Planned]:
    """`count` planned records, numbered from `first_number`."""
    special = _places(count, mix.long_records, mix.poison_records, rng)
    return [_record(rng, mix, first_number + place, special.get(place)) for place in range(count)]


def _places(count: int, longs: int, poisons: int, rng: Random) -> dict[int, str]:
    """Long records spread evenly from the front, so that the rest overtakes them; poison anywhere else."""
    step = max(1, count // max(1, longs))
    places = {place * step: "long" for place in range(longs)}
    free = [place for place in range(count) if place not in places]
    places.update(dict.fromkeys(rng.sample(free, poisons), "poison"))
    return places


def _record(rng: Random, mix: Mix, number: int, special: str | None) -> Planned:
    partition, odd = rng.randrange(mix.partitions), ODD[number % len(ODD)]
    if special is None and rng.random() < mix.bad_share:
        bad = rng.choice(bad_records(mix.endpoint))
        return Planned(number, partition, b"bad", bad.value, [*odd, *bad.headers], bad.dies_as)
    lane = rng.choice(LANES)
    key, headers, order = _session(rng, mix, number, lane)
    faults, dies_as = _faults(rng, mix, special)
    headers = [*odd, *headers, (names.LANE, lane.value.encode())]
    return Planned(number, partition, key, _value(mix, number, faults), headers, dies_as, order)


def _session(rng: Random, mix: Mix, number: int, lane: Lane) -> tuple[bytes | None, Headers, OrderKey | None]:
    """A key, a session header, or neither."""
    if rng.random() >= mix.session_share:
        return None, [], None
    session = f"session-{rng.randrange(mix.sessions)}"
    apart = rng.random() < mix.unordered_share
    order = None if apart else OrderKey("default", session, lane.value)
    headers: Headers = [(names.ORDER, b"none")] if apart else []
    if rng.random() < 0.5:
        return session.encode(), headers, order
    return f"key-{number}".encode(), [*headers, (names.SESSION, session.encode())], order


def _faults(rng: Random, mix: Mix, special: str | None) -> tuple[list[str], ErrorClass | None]:
    if special == "poison":
        return ["kill_process"], ErrorClass.POISON
    if special == "long":
        return [f"sleep:{mix.long_s}"], None
    faults = [f"sleep:{min(rng.expovariate(1 / mix.sleep_mean_s), mix.sleep_max_s):.3f}"]
    if rng.random() < mix.transient_share:
        faults.append("transient:1")
    if rng.random() < mix.too_large_share:
        return [*faults, f"answer_bytes:{mix.too_large_bytes}"], ErrorClass.TOO_LARGE
    return faults, None


def _value(mix: Mix, number: int, faults: list[str]) -> bytes:
    body: dict[str, Any] = {
        "model": mix.endpoint,
        "messages": [{"role": "user", "content": f"record {number}"}],
        "max_tokens": 8,
        "metadata": {"simulate": ",".join(faults)},
    }
    request = {"custom_id": f"r-{number}", "method": "POST", "url": "/v1/chat/completions", "body": body}
    return json.dumps(request).encode()


def batches(records: list[Planned], size: int) -> Iterator[list[Planned]]:
    """`records` cut into lists of `size`."""
    for start in range(0, len(records), size):
        yield records[start : start + size]
