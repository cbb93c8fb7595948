"""The session key: who belongs together, and the 64-bit hash that finds their place.

Explicit keys first (header, `prompt_cache_key`, record key), else a prefix of the prompt whose depth adapts
(design: cache-and-routing, 2). The hash covers endpoint, tenant and key: equal ids of two tenants never meet.
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
from schemas.routing import check_name

#: Scopes remembered; a scope is cheap to make again.
SCOPES_MAX: Final = 4_096
_number_of: Final = Struct(">Q").unpack


class SessionKey(msgspec.Struct, frozen=True, gc=False):
    """`session` where the key is explicit, else `route`: the prefix key, 16 hexadecimal digits."""

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
    """The first hit of: header, `body.prompt_cache_key`, record key, prefix of the prompt.

    `extend`: hashes of prefixes that too many share (the shard map's). BadRecord (`invalid`): a prompt_cache_key too long.
    """
    scope = _scope(body.model, tenant)
    session = explicit_session(control, body, record_key)
    if session is not None:
        digest = blake2b(b"%bs%b" % (scope, session.encode()), digest_size=8).digest()
        return SessionKey(session, None, _number_of(digest)[0])
    return _prefix_key(scope, body, extend, rules)


def explicit_session(control: Control, body: Body, record_key: bytes | None) -> str | None:
    """The session that the producer named, None where it named none."""
    if control.session is not None:
        return control.session
    if body.prompt_cache_key:
        check_name("$.body.prompt_cache_key", body.prompt_cache_key)
        return body.prompt_cache_key
    return session_of_record_key(record_key) if record_key else None


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
