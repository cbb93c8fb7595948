"""`dead-letters edit`: what is sent, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from schemas.source import Source
from stream.cli.dead_letter.editing import Editing, in_editor
from stream.cli.dead_letter.editor import EditorFailed
from stream.errors import UsageError
from stream.log.base import Record
from stream.replay.find import FoundLetter, find_dead_letters
from tests.stream.cli.dead_letter.desk import Desk
from tests.stream.dispatcher.stage import line

GOOD = line(custom_id="b-1")
BROKEN = GOOD[:-1]


@pytest.fixture
def source(desk: Desk) -> Source:
    """Of a dead letter that lacks its last brace."""
    source = desk.here.put(desk.here.requests, BROKEN)
    desk.here.bury(source, BROKEN, carried=[("mine", b"1")])
    return source


def back(desk: Desk) -> list[Record]:
    return list(desk.here.log.reader([desk.here.requests]).to_end(1))[1:]


def edit(desk: Desk, tmp_path: Path, name: object, value: bytes, *words: str) -> tuple[int, str]:
    """Exit code, and what stands on stderr."""
    file = tmp_path / "value"
    file.write_bytes(value)
    ended = desk.run("edit", str(name), "--value", str(file), *words)
    return ended.code, ended.err


@pytest.mark.parametrize("name", ["b-1", "0/0", "headrace.dead-letters/0/0", "headrace.requests/0/0"])
def test_each_name_of_a_letter_finds_it(desk: Desk, source: Source, tmp_path: Path, name: str) -> None:
    assert str(source) == "headrace.requests/0/0"
    assert edit(desk, tmp_path, name, GOOD + b"\n") == (0, "")
    [record] = back(desk)
    assert record.value() == GOOD
    assert record.headers() == [("mine", b"1"), ("headrace-replay", b"1")]


def test_a_name_of_none_is_told(desk: Desk, source: Source, tmp_path: Path) -> None:
    assert edit(desk, tmp_path, f"not {source}", GOOD) == (
        1,
        f"headrace: no dead letter 'not {source}'\n",
    )


def test_a_name_of_several_is_refused_with_their_places(desk: Desk, source: Source, tmp_path: Path) -> None:
    desk.here.bury(Source("headrace.requests", 0, 5), BROKEN)
    with pytest.raises(UsageError, match="dead letters 0/0, 0/1 are all named 'b-1'"):
        edit(desk, tmp_path, "b-1", GOOD)
    assert edit(desk, tmp_path, source, GOOD)[0] == 0
    assert edit(desk, tmp_path, "b-1", GOOD)[0] == 0
    assert len(back(desk)) == 2


def test_an_unchanged_value_is_told_and_not_sent(desk: Desk, source: Source, tmp_path: Path) -> None:
    code, told = edit(desk, tmp_path, source, BROKEN + b"\n")
    assert (code, "unchanged" in told) == (0, True)
    assert not back(desk)


@pytest.mark.parametrize("value", [b"", b" \n"])
def test_an_empty_value_is_not_sent(desk: Desk, source: Source, tmp_path: Path, value: bytes) -> None:
    code, told = edit(desk, tmp_path, source, value)
    assert (code, "empty" in told) == (1, True)
    assert not back(desk)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (GOOD[:-2], "unreadable: not JSON"),
        (line(body_temperature=99), "invalid: $.body.temperature"),
        (line(body_model="later"), "no endpoint 'later'; there are sim"),
    ],
)
def test_a_value_that_would_die_again_is_refused_with_the_finding_unless_forced(
    desk: Desk, source: Source, tmp_path: Path, value: bytes, found: str
) -> None:
    code, told = edit(desk, tmp_path, source, value)
    assert (code, found in told) == (2, True)
    assert not back(desk)
    code, told = edit(desk, tmp_path, source, value, "--force")
    assert (code, found in told) == (0, True)
    assert [record.value() for record in back(desk)] == [value]


def test_a_letter_that_something_was_decided_about_is_not_edited(
    desk: Desk, source: Source, tmp_path: Path
) -> None:
    desk.run("resolve", str(source), "--reason", "x")
    assert edit(desk, tmp_path, source, GOOD)[0] == 1
    assert not back(desk)
    assert edit(desk, tmp_path, source, GOOD, "--again")[0] == 0
    assert len(back(desk)) == 1


class Editor:
    """An editor that a test drives: each start writes the next of `values`."""

    def __init__(self, desk: Desk, folder: Path, *values: bytes) -> None:
        self.sent: list[bytes] = []
        self.asked: list[str] = []
        self._desk = desk
        for number, value in enumerate(values):
            (folder / f"value-{number}").write_bytes(value)
        script = folder / "editor"
        script.write_text(
            f'#!/bin/sh\ncd "{folder}"\nfor new in value-*; do [ -e "$new" ] || exit 3; mv "$new" "$1"; exit; done\n'
        )
        script.chmod(0o700)
        self.command = str(script)

    def run(self, *answers: str) -> int:
        replies = iter(answers)

        def ask(question: str) -> str:
            self.asked.append(question)
            return next(replies)

        def send(value: bytes) -> int:
            self.sent.append(value)
            return 0

        editing = Editing(self._desk.here.settings, force=False, ask=ask if answers else None, send=send)
        return in_editor(editing, letter(self._desk), BROKEN, self.command)


def letter(desk: Desk) -> FoundLetter:
    [found] = find_dead_letters(desk.here.log, desk.here.settings)
    return found


@pytest.mark.usefixtures("source")
class TestInAnEditor:
    """What its file holds when it ends is the new value."""

    def test_it_is_sent_where_it_is_right(self, desk: Desk, tmp_path: Path) -> None:
        editor = Editor(desk, tmp_path, GOOD + b"\n")
        assert editor.run() == 0
        assert (editor.sent, editor.asked) == ([GOOD], [])

    def test_a_wrong_one_is_edited_again_on_wish(self, desk: Desk, tmp_path: Path) -> None:
        editor = Editor(desk, tmp_path, b"{", GOOD)
        assert editor.run("e") == 0
        assert (editor.sent, len(editor.asked)) == ([GOOD], 1)

    def test_a_wrong_one_is_sent_on_wish(self, desk: Desk, tmp_path: Path) -> None:
        editor = Editor(desk, tmp_path, b"{")
        assert editor.run("Send") == 0
        assert editor.sent == [b"{"]

    @pytest.mark.parametrize("answers", [("q",), ("",), ()])
    def test_a_wrong_one_is_kept_and_not_sent_otherwise(
        self, desk: Desk, tmp_path: Path, answers: tuple[str, ...], capsys: pytest.CaptureFixture[str]
    ) -> None:
        editor = Editor(desk, tmp_path, b"{mine")
        assert editor.run(*answers) == 2
        assert not editor.sent
        kept = Path(capsys.readouterr().err.splitlines()[-1].partition("is kept in ")[2])
        assert kept.read_bytes() == b"{mine"
        assert kept.parent.stat().st_mode & 0o077 == 0

    def test_an_editor_that_fails_sends_nothing(self, desk: Desk, tmp_path: Path) -> None:
        editor = Editor(desk, tmp_path)
        with pytest.raises(EditorFailed, match="ended with 3: nothing is sent"):
            editor.run()
        editor.command = str(tmp_path / "none")
        with pytest.raises(EditorFailed, match="cannot be started"):
            editor.run()
        assert not editor.sent
