"""The session key: who belongs together, and the 64-bit hash that finds their place.

A session is named by the header `headrace-session`, else by the record key. Without a session `prompt_cache_key` finds
the place, else a prefix of the prompt whose depth adapts. The hash covers endpoint, tenant and key: equal ids of two
tenants never meet.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from struct import Struct
from typing import Final

import msgspec

from cache.prompt_prefix import prompt_prefix
from schemas.control import NAME_BYTES_MAX, Control
from schemas.request import Body

#: Scopes remembered; a scope is cheap to make again.
SCOPES_MAX: Final = 4_096
_number_of: Final = Struct(">Q").unpack


class SessionKey(msgspec.Struct, frozen=True, gc=False):
    """`session` where there is one, else `route`: what only finds a place, 16 hexadecimal digits."""

    session: str | None
    route: str | None
    #: 0 to 2^64 - 1.
    hash: int


@dataclass(frozen=True, slots=True)
class PrefixRules:
    """How a prompt's prefix is cut."""

    #: One block: 512 tokens of about four bytes.
    block_bytes: int = 2_048
    blocks_max: int = 8


DEFAULT_RULES: Final = PrefixRules()


def session_key(
    control: Control,
    body: Body,
    record_key: bytes | None,
    tenant: str,
    extend: AbstractSet[int] = frozenset(),
    rules: PrefixRules = DEFAULT_RULES,
) -> SessionKey:
    """The first hit of: session, `body.prompt_cache_key`, prefix of the prompt.

    `extend`: hashes of prefixes that too many share (the shard map's).
    """
    scope = _scope(body.model, tenant)
    session = session_of(control, record_key)
    if session is not None:
        digest = _digest_of_session(scope, session)
        return SessionKey(session, None, _number_of(digest)[0])
    cache_key = body.prompt_cache_key
    if cache_key:
        digest = blake2b(b"%bc%b" % (scope, cache_key.encode()), digest_size=8).digest()
        return SessionKey(None, digest.hex(), _number_of(digest)[0])
    return _prefix_key(scope, body, extend, rules)


def session_of(control: Control, record_key: bytes | None) -> str | None:
    """The session that a record belongs to, None where it stands outside."""
    if control.order is not None:
        return None
    if control.session is not None:
        return control.session
    return session_of_record_key(record_key) if record_key else None


def session_hash(endpoint: str, tenant: str, session: str) -> str:
    """What logs may say of a session: the 16 hexadecimal digits of its `SessionKey.hash`."""
    return _digest_of_session(_scope(endpoint, tenant), session).hex()


def _digest_of_session(scope: bytes, session: str) -> bytes:
    return blake2b(b"%bs%b" % (scope, session.encode()), digest_size=8).digest()


def session_of_record_key(key: bytes) -> str:
    """A record key is a session as it stands; a long or binary one is hashed."""
    if len(key) <= NAME_BYTES_MAX:
        try:
            return key.decode()
        except UnicodeDecodeError:
            pass
    return "key:" + blake2b(key, digest_size=16).hexdigest()


def _prefix_key(scope: bytes, body: Body, extend: AbstractSet[int], rules: PrefixRules) -> SessionKey:
    """One block; one more while the prefix is shared by too many and another full block exists."""
    block = rules.block_bytes
    text = prompt_prefix(body, block * rules.blocks_max)
    depth = block
    while True:
        digest = blake2b(b"%bp%b" % (scope, text[:depth]), digest_size=8).digest()
        (place,) = _number_of(digest)
        depth += block
        if place not in extend or len(text) < depth:
            return SessionKey(None, digest.hex(), place)


@lru_cache(maxsize=SCOPES_MAX)
def _scope(endpoint: str, tenant: str) -> bytes:
    """Lengths first, so that no two pairs give the same bytes."""
    return f"{len(endpoint)}:{endpoint}{len(tenant)}:{tenant}".encode()
