"""Keys and headers of `produce`: for all lines, or from their fields."""

from __future__ import annotations

import pytest

from stream.cli.addressing_options import addressing
from stream.cli.parser import parse
from stream.client.addressing import Addressing, Given
from stream.client.session import NoSession
from stream.errors import UsageError

LINE = b'{"custom_id": "a", "body": {"user": "ann", "shop": 7}}'


def asked(*options: str) -> Addressing:
    _, arguments = parse(["produce", "t", "-", *options])
    session = None if arguments.session is None else arguments.session.encode()
    return addressing(arguments, [("headrace-lane", b"batch")], session)


def test_a_key_is_given_for_all_or_taken_from_a_field() -> None:
    assert asked("--key", "k").of(LINE) == (b"k", [("headrace-lane", b"batch")])
    assert asked("--key-field", "body.shop").of(LINE)[0] == b"7"
    assert asked().of(LINE)[0] is None


def test_a_session_is_the_key_unless_there_is_one() -> None:
    session = ("headrace-session", b"ann")
    assert Addressing(session=Given(b"ann")).of(LINE) == (b"ann", [session])
    assert asked("--key", "k", "--session-field", "body.user").of(LINE) == (
        b"k",
        [("headrace-lane", b"batch"), session],
    )


def test_headers_are_given_and_taken_from_fields_in_their_order() -> None:
    beside = asked(
        "--header", "a=1", "--header", "b=x=y", "--header-field", "who=body.user", "--header", "c="
    )
    assert beside.of(LINE)[1][1:] == [("a", b"1"), ("b", b"x=y"), ("c", b""), ("who", b"ann")]


def test_a_field_that_is_not_there_is_told_by_name() -> None:
    for option in (("--key-field", "body.nobody"), ("--header-field", "x=body.nobody")):
        with pytest.raises(NoSession, match=r"no text or whole number at 'body\.nobody'"):
            asked(*option).of(LINE)


@pytest.mark.parametrize(
    "options",
    [
        ("--header", "x"),
        ("--header", "=x"),
        ("--header-field", "x="),
        ("--key", "a", "--key-field", "b"),
    ],
)
def test_what_names_nothing_is_refused(options: tuple[str, ...]) -> None:
    with pytest.raises(UsageError):
        asked(*options)
