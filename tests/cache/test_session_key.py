"""Session keys: the first that the producer named, else a prefix; equal ids of two tenants never meet."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cache.session_key import PrefixRules, SessionKey, session_hash, session_key
from schemas.control import NO_CONTROL, Control
from schemas.request import Body, Message

RULES = PrefixRules(block_bytes=10, blocks_max=4)
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)


def asks(text: str, **more: str) -> Body:
    return Body("sim", [Message("user", text)], **more)  # type: ignore[arg-type]


def key_of(body: Body, extend: frozenset[int] = frozenset(), tenant: str = "acme") -> SessionKey:
    return session_key(NO_CONTROL, body, None, tenant, extend, RULES)


def test_the_first_hit_wins() -> None:
    body = asks("hi", prompt_cache_key="cache")
    assert session_key(Control(session="header"), body, b"record", "t").session == "header"
    assert session_key(NO_CONTROL, body, b"record", "t").session == "record"
    assert session_key(NO_CONTROL, body, None, "t").session is None
    assert session_key(Control(session="header", order="none"), body, b"record", "t").session is None
    assert session_key(NO_CONTROL, asks("hi", prompt_cache_key=""), b"record", "t").session == "record"
    prefix = session_key(NO_CONTROL, asks("hi"), None, "t")
    cached = session_key(NO_CONTROL, body, None, "t")
    assert cached.route == f"{cached.hash:016x}" != prefix.route
    assert prefix.session is None
    assert prefix.route == f"{prefix.hash:016x}"


@pytest.mark.parametrize("key", [None, b""])
def test_a_null_or_empty_record_key_is_no_session(key: bytes | None) -> None:
    assert session_key(NO_CONTROL, asks("hi"), key, "t").session is None


@pytest.mark.parametrize("key", [b"\xff\xfe", b"k" * 257, b"\x00\xc3"])
def test_a_binary_or_long_record_key_is_hashed_and_is_a_session(key: bytes) -> None:
    found = session_key(NO_CONTROL, asks("hi"), key, "t")
    assert found.session is not None
    assert found.session.startswith("key:")
    assert len(found.session) == 36
    assert found == session_key(NO_CONTROL, asks("other"), key, "t")


def test_a_record_key_of_256_bytes_is_itself() -> None:
    assert session_key(NO_CONTROL, asks("hi"), b"k" * 256, "t").session == "k" * 256


def test_a_prompt_cache_key_routes_what_stands_outside_its_session_and_names_no_session() -> None:
    outside = session_key(
        Control(session="s", order="none"), asks("a", prompt_cache_key="c" * 300), b"k", "t"
    )
    assert outside == session_key(NO_CONTROL, asks("b", prompt_cache_key="c" * 300), None, "t")
    assert outside.session is None
    assert outside.hash != session_key(Control(session="c" * 300), asks("a"), None, "t").hash


def test_a_log_may_tell_the_hash_of_a_session() -> None:
    found = session_key(Control(session="s"), Body("sim"), None, "t")
    assert session_hash("sim", "t", "s") == f"{found.hash:016x}"


def test_an_explicit_session_is_the_same_for_every_prompt_and_source_of_the_name() -> None:
    named = session_key(Control(session="s"), asks("a"), None, "t")
    assert named == session_key(NO_CONTROL, asks("b"), b"s", "t")
    assert named == session_key(NO_CONTROL, asks("c", prompt_cache_key="other"), b"s", "t")


def test_endpoints_and_tenants_never_meet() -> None:
    def place(endpoint: str, tenant: str) -> int:
        return session_key(Control(session="s"), Body(endpoint), None, tenant).hash

    places = [place("a", "bc"), place("ab", "c"), place("a", "1:bc"), place("a1:b", "c"), place("c", "ab")]
    assert len(set(places)) == len(places)


def test_an_explicit_key_and_a_prefix_of_the_same_text_never_meet() -> None:
    body = Body("sim", prompt="text")
    assert session_key(NO_CONTROL, body, b"text", "t").hash != session_key(NO_CONTROL, body, None, "t").hash


@given(st.text(max_size=5), st.text(max_size=5), st.binary(max_size=300))
def test_any_key_gives_the_same_place_twice_within_64_bits(endpoint: str, tenant: str, key: bytes) -> None:
    body = Body(endpoint.encode(errors="replace").decode(), prompt="x")
    tenant = tenant.encode(errors="replace").decode()
    first = session_key(NO_CONTROL, body, key, tenant)
    assert first == session_key(NO_CONTROL, body, key, tenant)
    assert 0 <= first.hash < 2**64
    assert (first.session is None) == (not key)
    assert len((first.session or "").encode()) <= 256


def test_the_hash_is_the_same_in_every_process() -> None:
    # Python's own hash is salted; two dispatchers must agree.
    program = (
        "from cache.session_key import session_key\n"
        "from schemas.control import Control\n"
        "from schemas.request import Body\n"
        "print(session_key(Control(session='s'), Body('sim'), None, 'acme').hash)"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
            timeout=120,
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {b"%d\n" % session_key(Control(session="s"), Body("sim"), None, "acme").hash}


# ---- prefixes -------------------------------------------------------------------------------------------------


def test_prompts_that_share_a_block_share_a_key() -> None:
    assert key_of(asks("abcdefghijklm")) == key_of(asks("abcdefghijxyz"))
    assert key_of(asks("abcdX")) != key_of(asks("abcdY"))


def test_a_shared_prefix_takes_another_block() -> None:
    one, two = asks("abcde" + "1" * 20), asks("abcde" + "2" * 20)
    shared = key_of(one)
    assert shared == key_of(two)
    extend = frozenset([shared.hash])
    assert key_of(one, extend) != key_of(two, extend)
    assert shared.hash not in (key_of(one, extend).hash, key_of(two, extend).hash)


def test_a_prefix_stays_where_no_other_full_block_exists() -> None:
    body = asks("abcdefghij")
    shared = key_of(body)
    assert key_of(body, frozenset([shared.hash])) == shared


@given(TEXT, st.integers(0, 8))
def test_the_depth_ends_at_its_bound(text: str, rounds: int) -> None:
    extend: frozenset[int] = frozenset()
    seen: list[int] = []
    for _ in range(rounds):
        found = key_of(asks(text * 20), extend)
        seen.append(found.hash)
        extend |= {found.hash}
    assert len(set(seen)) <= RULES.blocks_max


def test_a_second_turn_of_a_long_session_keeps_its_key() -> None:
    turns = [Message("system", "s" * 40), Message("user", "u" * 40)]
    longer = [*turns, Message("assistant", "a"), Message("user", "more")]
    assert key_of(Body("sim", turns)) == key_of(Body("sim", longer))


def test_text_and_parts_of_the_same_text_share_a_key() -> None:
    parts = Body("sim", [Message("user", [{"type": "text", "text": "hello"}])])
    assert key_of(parts) == key_of(asks("hello"))


def test_tasks_without_text_have_a_key_too() -> None:
    bodies = [
        Body("sim", prompt=[1, 2, 3]),
        Body("sim", prompt=[1, 2, 4]),
        Body("sim", prompt=""),
        Body("sim", input=["a", "b"]),
        Body("sim", input=[1, 2]),
        Body("sim", [Message("assistant", None)]),
    ]
    keys = {session_key(NO_CONTROL, body, None, "acme").hash for body in bodies}
    assert len(keys) == len(bodies)
