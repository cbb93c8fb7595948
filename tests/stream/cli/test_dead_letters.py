"""Dead letters on the command line, on a real broker."""

from __future__ import annotations

import argparse
import json
import time
from base64 import b64encode
from contextlib import closing
from pathlib import Path

import pytest

from schemas.dead_letter import DeadLetter, write_dead_letter
from schemas.failure import ErrorClass, Failure, Stage
from schemas.source import Source
from stream.cli.timestamps import moment_ms
from stream.log.base import Output
from tests.stream.cli.conftest import Ended, Installed, Run
from tests.stream.dispatcher.stage import line
from tests.stream.settled import await_markers

pytestmark = pytest.mark.broker

CUSTOM_ID = "r-1"
INVALID = b'{"custom_id": "r-1", "a": 1}'


@pytest.fixture
def buried(installed: Installed) -> Installed:
    """Two dead letters: one of tenant acme that is not UTF-8, one invalid with a long message."""
    topic = installed.requests
    unreadable = Failure(ErrorClass.UNREADABLE, Stage.DECODE, "not\nUTF-8")
    invalid = Failure(ErrorClass.INVALID, Stage.VALIDATE, "x" * 500)
    letters = [
        DeadLetter(
            b"\xffk", b"\xff\xfe", (("mine", b"1"),), Source(topic, 0, 7), 0, "g", unreadable, tenant="acme"
        ),
        DeadLetter(None, INVALID, (), Source(topic, 1, 8), 0, "g", invalid),
    ]
    with closing(installed.log.plain_producer()) as producer:
        for letter in letters:
            written = write_dead_letter(letter)
            producer.send(Output(installed.settings.outputs.dead_letters, *written, 0))
        assert producer.flush(30) == 0
    return installed


def test_one_of_a_newer_version_is_named_and_the_others_are_listed(run: Run, buried: Installed) -> None:
    topic = buried.settings.outputs.dead_letters
    with closing(buried.log.plain_producer()) as producer:
        producer.send(Output(topic, None, b"{}", [("headrace-version", b"9")], 0))
        assert producer.flush(30) == 0
    options = ("-c", str(buried.config))
    for action in ("list", "replay"):
        ended = run("dead-letters", action, *options)
        assert ended.code == 1
        assert ended.err == f"headrace: {topic}/0/2: a record of version 9; this program reads up to 1\n"
        assert len(ended.out.splitlines()) == (3 if action == "list" else 0)


def letters(run: Run, installed: Installed, *words: str) -> Ended:
    ended = run("dead-letters", *words, "-c", str(installed.config))
    assert ended.err == ""
    return ended


def test_a_list_has_a_line_for_each(run: Run, buried: Installed) -> None:
    first, second, counts = letters(run, buried, "list").out.splitlines()
    assert f"{buried.requests}/0/7  -  open  unreadable (decode): not UTF-8" in first
    assert f"  {CUSTOM_ID}  open  " in second
    assert second.endswith("x" * 160 + "…")
    assert counts == "2 dead letters (2 open): 1 unreadable, 1 invalid"


@pytest.mark.parametrize(
    ("words", "partitions"),
    [
        ((), ["0", "1"]),
        (("--class", "invalid"), ["1"]),
        (("--tenant", "acme"), ["0"]),
        (("--since", "1h"), ["0", "1"]),
        (("--since", str(2 * 10**12)), []),
        (("--class", "poison"), []),
    ],
)
def test_filters_choose(run: Run, buried: Installed, words: tuple[str, ...], partitions: list[str]) -> None:
    told = letters(run, buried, "list", "--json", *words).lines[:-1]
    assert [letter["source"].split("/")[1] for letter in told] == partitions


def test_nothing_found_is_told(run: Run, buried: Installed) -> None:
    ended = run("dead-letters", "list", "--class", "poison", "-c", str(buried.config))
    assert (ended.code, ended.out, ended.err) == (0, "", "headrace: no dead letters found\n")


def test_show_has_the_original_as_it_came(run: Run, buried: Installed) -> None:
    [told] = letters(run, buried, "show", "--json", "--source", f"{buried.requests}/0/7").lines
    assert (told["encoding"], told["value"], told["headers"]) == ("base64", "//4=", [["mine", "1"]])
    assert (told["class"], told["stage"], told["message"]) == ("unreadable", "decode", "not\nUTF-8")
    for_people = letters(run, buried, "show", "--class", "invalid").out
    assert f"source: {buried.requests}/1/8\n" in for_people
    assert f"value:\n{INVALID.decode()}\n" in for_people


def test_a_replay_puts_each_back_once(run: Run, buried: Installed) -> None:
    dry = letters(run, buried, "replay", "--dry-run").out
    assert dry.endswith("2 would be replayed, 0 were replayed before, 0 refused\n")
    assert letters(run, buried, "replay").out.endswith("2 replayed, 0 were replayed before, 0 refused\n")
    assert letters(run, buried, "replay").out.endswith("0 replayed, 2 were replayed before, 0 refused\n")
    told = letters(run, buried, "replay", "--again", "--class", "invalid", "--json").lines
    assert told == [{"letter": "0/1", "source": f"{buried.requests}/1/8", "outcome": "replayed", "why": None}]
    await_markers(buried.log.admin(), buried.requests)
    back = run("consume", buried.requests, "--bytes", "-c", str(buried.config)).lines
    back_again = b64encode(INVALID).decode()
    assert sorted(record["value"] for record in back) == ["//4=", back_again, back_again]


def test_a_wrong_filter_is_a_usage_error(run: Run) -> None:
    for words in (("--class", "bad"), ("--since", "yesterday"), ("--source", "topic")):
        ended = run("dead-letters", "list", *words)
        assert (ended.code, ended.err.count("\n")) == (2, 1)


def test_moments_are_ago_dates_or_milliseconds() -> None:
    before_ms = int(time.time() * 1000)
    ago_ms = moment_ms("2h")
    assert before_ms <= ago_ms + 7_200_000 <= time.time() * 1000 + 1
    assert moment_ms("1764400000000") == 1764400000000
    assert moment_ms("2026-05-01T12:00+00:00") == 1777636800000
    with pytest.raises(argparse.ArgumentTypeError):
        moment_ms("soon")


def test_lists_of_programs_are_one_json_value_a_line(run: Run, buried: Installed) -> None:
    lines = letters(run, buried, "list", "--json").out.splitlines()
    assert all(isinstance(json.loads(line), dict) for line in lines)


def test_an_edited_value_goes_back_once_and_the_list_says_so(
    run: Run, buried: Installed, tmp_path: Path
) -> None:
    (tmp_path / "new").write_bytes(line(custom_id=CUSTOM_ID))
    words = ("edit", CUSTOM_ID, "--value", str(tmp_path / "new"))
    assert letters(run, buried, *words).out == f"{buried.requests}/1/8  edited\n"
    again = run("dead-letters", *words, "-c", str(buried.config))
    assert (again.code, again.out) == (
        1,
        f"{buried.requests}/1/8  was replayed before: with an edited value\n",
    )
    await_markers(buried.log.admin(), buried.requests)
    [back] = run("consume", buried.requests, "-c", str(buried.config)).lines
    assert (back["value"]["custom_id"], back["headers"]) == (CUSTOM_ID, [["headrace-replay", "1"]])
    states = [told["state"] for told in letters(run, buried, "list", "--json").lines[:-1]]
    assert states == ["open", "edited"]


def test_a_closed_one_is_not_replayed_and_status_counts_it_no_longer(run: Run, buried: Installed) -> None:
    closed = letters(run, buried, "resolve", "--class", "invalid", "--reason", "theirs")
    assert closed.out.endswith("1 closed, 0 were replayed before, 0 refused\n")
    await_markers(buried.log.admin(), buried.settings.own_topic("replays"))
    told = letters(run, buried, "list", "--json", "--open").lines
    assert [one["class"] for one in told[:-1]] == ["unreadable"]
    status = run("status", "--json", "--interval", "0.01", "-c", str(buried.config)).out
    assert [json.loads(status)[name] for name in ("dead_letters", "dead_letters_open")] == [2, 1]
    replayed = letters(run, buried, "replay").out
    assert replayed.endswith("1 replayed, 0 were replayed before, 1 were closed before, 0 refused\n")
