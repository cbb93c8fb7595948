"""The dispatcher's fast headers are those of `schemas.work`, and what it remembers changes nothing."""

from __future__ import annotations

import pytest

from cache.session_key import session_key
from schemas.control import Control, read_control
from schemas.decode import Decoder
from schemas.headers import Headers
from schemas.lane import LANES
from schemas.work import Routed, WorkHeaders
from stream.dispatcher import placement as module
from stream.dispatcher.placement import Placement, stamp, travelling
from tests.stream.dispatcher.stage import Stage, line


def made() -> Placement:
    stage = Stage()
    return Placement(stage.settings, stage.admin.topics(1))


@pytest.mark.parametrize("key", [None, b"", b"user-7", b"\xff\x00", b"k" * 300])
@pytest.mark.parametrize("cache_key", [None, "mine"])
@pytest.mark.parametrize(
    "given",
    [
        [],
        [("headrace-session", b"s")],
        [("headrace-session", b"s"), ("headrace-order", b"none")],
        [("mine", b"1"), ("headrace-lane", b"batch"), ("headrace-replay", b"2")],
    ],
)
def test_headers_are_those_of_the_work_record(
    key: bytes | None, cache_key: str | None, given: Headers
) -> None:
    places, build = made(), WorkHeaders().build
    control = read_control(given, key) if given else Control()
    body = Decoder().decode(line(body_prompt_cache_key=cache_key) if cache_key else line()).body
    for lane in LANES:
        for tenant in ("a", "b"):
            for _ in range(2):
                routing = places.find(control, body, key, tenant, lane, "json")
                found = session_key(control, body, key, tenant)
                slice_, partition = places.maps["sim"].place(found.hash)
                routed = Routed("sim", tenant, lane, "json", found.session, found.route, slice_, 1)
                expected = build(("in", 3, 99), 1234, routed, control)
                assert [*stamp(b"in/3/", 99, 1234, routing), *travelling(control)] == expected
                assert (routing.topic, routing.partition) == (f"headrace.work.sim.{lane}", partition)


def test_only_so_many_sessions_are_remembered() -> None:
    places = made()
    body = Decoder().decode(line()).body
    for number in range(module.SESSIONS_MAX + 10):
        places.find(Control(), body, b"%d" % number, "t", LANES[0], "json")
    assert len(places._seen) <= module.SESSIONS_MAX
