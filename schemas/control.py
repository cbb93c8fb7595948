"""Control headers: what a producer asks of the service beside the request itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, NamedTuple

import msgspec

from schemas import headers as names
from schemas.carry import Carried, carry, split_replay
from schemas.errors import BadRecord
from schemas.headers import OWN_PREFIX, Header
from schemas.lane import LANES, Lane
from schemas.topic_name import topic_problem
from schemas.weight import HEADERS_MAX

Errors = Literal["dead-letter", "result"]

#: Key and headers of an input record together.
HEADERS_BYTES_MAX: Final = 64 * 1024
#: Of a tenant or a session, as UTF-8.
NAME_BYTES_MAX: Final = 256
_LANE_OF: Final[dict[str, Lane]] = {lane.value: lane for lane in LANES}
_INT64_MAX: Final = 2**63 - 1


class ReplyTo(NamedTuple):
    """Where the answer goes; without a partition the key decides."""

    topic: str
    partition: int | None = None


class Control(msgspec.Struct, frozen=True):
    """The control headers of one input record, and what travels on."""

    session: str | None = None
    tenant: str | None = None
    lane: Lane | None = None
    #: ms since the epoch.
    deadline_ms: int | None = None
    reply_to: ReplyTo | None = None
    errors: Errors = "dead-letter"
    #: How often this record was replayed.
    replay: int = 0
    #: "none": the record stands outside its session.
    order: Literal["none"] | None = None
    #: All headers of the producer, renamed for the work record.
    carried: Carried = ()


NO_CONTROL: Final = Control()


def read_control(
    headers: Sequence[Header] | None, key: bytes | None = None, headers_bytes_max: int = HEADERS_BYTES_MAX
) -> Control:
    """Read an input record's headers.

    The last of a repeated one wins; null and empty ones count as absent; forged service headers mean nothing.
    Raises BadRecord: `unreadable` (too large) or `invalid` (which, why, what would be right).
    """
    if not headers:
        if key is not None and len(key) > headers_bytes_max:
            raise _too_large(len(key), headers_bytes_max)
        return NO_CONTROL
    _check_count(headers)
    _check_size(headers, key, headers_bytes_max)
    own = [header for header in headers if header[0].startswith(OWN_PREFIX)]
    if not own:
        return Control(carried=tuple(headers))
    found = {name: value for name, value in own if value and name in _READ}
    values = {_READ[name][0]: _READ[name][1](name, value) for name, value in found.items()}
    return Control(**values, replay=split_replay(headers)[1], carried=carry(headers))


def readable_control(
    headers: Sequence[Header] | None, key: bytes | None, headers_bytes_max: int
) -> Control | None:
    """Of headers that `read_control` refused, those that are right; None where they are none, or too large to be read.

    Where `headrace-reply-to` is wrong, nobody knows where an error result would go: `headrace-errors` counts as wrong too.
    """
    given = {name: value for name, value in headers or () if value and name in _READ}
    wrong = {name for name, value in given.items() if not _is_right(name, value)}
    if names.REPLY_TO in wrong:
        wrong.add(names.ERRORS)
    try:
        _check_size(headers or (), key, headers_bytes_max)
        right = [header for header in headers or () if header[0] not in wrong]
        if len(right) > HEADERS_MAX:
            right = [header for header in right if header[0] in given]
        return read_control(right) if given else None
    except BadRecord:
        return None


def _is_right(name: str, value: bytes) -> bool:
    try:
        _READ[name][1](name, value)
    except BadRecord:
        return False
    return True


def _check_count(headers: Sequence[Header]) -> None:
    """A replay's own mark is none of the producer's."""
    if len(headers) > HEADERS_MAX and len(split_replay(headers)[0]) > HEADERS_MAX:
        raise BadRecord.unreadable(f"too large: {len(headers)} headers; at most {HEADERS_MAX} are read")


def _check_size(headers: Sequence[Header], key: bytes | None, bytes_max: int) -> None:
    size = len(key) if key else 0
    for name, value in headers:
        # A character takes at most four bytes: short names need no encoding to be judged.
        size += 4 * len(name) + (len(value) if value else 0)
    if size > bytes_max:
        exact = headers_size(headers) + len(key or b"")
        if exact > bytes_max:
            raise _too_large(exact, bytes_max)


def headers_size(headers: Sequence[Header]) -> int:
    """Bytes of names and values, as the bound counts them."""
    return sum(len(name.encode(errors="surrogatepass")) + len(value or b"") for name, value in headers)


def _too_large(size: int, limit: int) -> BadRecord:
    return BadRecord.unreadable(
        f"key and headers of {size} bytes are too large; at most {limit} bytes are read"
    )


def _text(name: str, value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise _wrong(name, value, "UTF-8 text") from error


def _name(name: str, value: bytes) -> str:
    if len(value) > NAME_BYTES_MAX:
        raise BadRecord.invalid(f"header {name}: {len(value)} bytes; right is at most {NAME_BYTES_MAX}")
    return _text(name, value)


def _lane(name: str, value: bytes) -> Lane:
    lane = _LANE_OF.get(_text(name, value))
    if lane is None:
        raise _wrong(name, value, "one of " + ", ".join(LANES))
    return lane


def _deadline(name: str, value: bytes) -> int:
    number = int(value) if len(value) <= 19 and value.isdigit() else _INT64_MAX + 1
    if number > _INT64_MAX:
        raise _wrong(name, value, "milliseconds since 1970, as digits")
    return number


def _reply_to(name: str, value: bytes) -> ReplyTo:
    topic, colon, partition = _text(name, value).partition(":")
    problem = topic_problem(topic)
    if problem is not None:
        raise _wrong(name, value, f"topic or topic:partition ({problem})")
    if not colon:
        return ReplyTo(topic)
    if not (partition.isascii() and partition.isdigit() and len(partition) <= 9):
        raise _wrong(name, value, "topic:partition, the partition a number")
    return ReplyTo(topic, int(partition))


def _errors(name: str, value: bytes) -> str:
    text = _text(name, value)
    if text not in ("dead-letter", "result"):
        raise _wrong(name, value, "dead-letter or result")
    return text


def _order(name: str, value: bytes) -> str:
    if value != b"none":
        raise _wrong(
            name, value, "none, or no such header: how sessions are ordered is the endpoint's setting"
        )
    return "none"


def _wrong(name: str, value: bytes, right: str) -> BadRecord:
    shown = repr(value[:80])[1:]
    return BadRecord.invalid(f"header {name}: {shown} is wrong; right is {right}")


_READ: Final[dict[str, tuple[str, Callable[[str, bytes], Any]]]] = {
    names.SESSION: ("session", _name),
    names.TENANT: ("tenant", _name),
    names.LANE: ("lane", _lane),
    names.DEADLINE: ("deadline_ms", _deadline),
    names.REPLY_TO: ("reply_to", _reply_to),
    names.ERRORS: ("errors", _errors),
    names.ORDER: ("order", _order),
}
