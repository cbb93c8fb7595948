"""Words to commands, and what is said about wrong ones."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from stream.cli.parser import parse
from stream.cli.registry import COMMANDS, COMMANDS_LATER, FLAGS_LATER
from tests.stream.cli.conftest import Run


@pytest.mark.parametrize("word", COMMANDS_LATER)
def test_a_command_of_a_later_version_is_refused_as_such(run: Run, word: str) -> None:
    ended = run(word, "anything", "--at-all")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"headrace: '{word}' is not in this version\n"


@pytest.mark.parametrize("flag", FLAGS_LATER)
def test_a_flag_of_a_later_version_is_refused_as_such(run: Run, flag: str) -> None:
    ended = run("config", "check", "x.toml", f"{flag}=1")
    assert (ended.code, ended.err) == (2, f"headrace: {flag} is not in this version\n")


def test_an_unknown_command_is_answered_with_the_nearest(run: Run) -> None:
    ended = run("stauts")
    assert (ended.code, ended.err) == (2, "headrace: unknown command 'stauts'; did you mean 'status'?\n")


def test_a_command_that_resembles_none_is_answered_with_all(run: Run) -> None:
    ended = run("xyzzy")
    assert ended.code == 2
    assert all(name in ended.err for name in COMMANDS)


def test_no_command_at_all_is_a_usage_error(run: Run) -> None:
    ended = run()
    assert ended.code == 2
    assert "COMMAND" in ended.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("consume",), "TOPIC"),
        (("consume", "t", "--count", "0"), "'0' is not a whole number, 1 or more"),
        (("consume", "t", "--timeout", "soon"), "'soon' is not a number of seconds"),
        (("consume", "t", "--timeout", "nan"), "'nan' is not a number of seconds"),
        (("consume", "t", "--from", "middle"), "invalid choice: 'middle'"),
        (("consume", "t", "--tail"), "unknown argument: --tail"),
        (("consume", "t", "--timeou", "3"), "unknown argument: --timeou"),
        (("produce", "t", "-", "--lane", "gold"), "invalid choice: 'gold'"),
        (("produce", "t", "-", "--session", "a", "--session-field", "b"), "not allowed with"),
        (("worker", "--endpoint", "sim", "--slot", "-1"), "slot"),
        (("worker", "--slot", "0"), "--endpoint"),
        (("dispatcher",), "--slot"),
        (("config", "chek"), "invalid choice: 'chek'"),
        (("quarantine", "reset", "topic"), "'topic' is not TOPIC/PARTITION"),
    ],
)
def test_a_wrong_argument_is_one_line_and_exit_2(run: Run, words: tuple[str, ...], said: str) -> None:
    ended = run(*words)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("headrace: ")
    assert ended.err.count("\n") == 1
    assert said in ended.err


def test_version_and_help_end_with_0(run: Run) -> None:
    assert run("--version").out.startswith("headrace ")
    told = run("--help")
    assert told.code == 0
    assert all(name in told.out for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_tells_its_own_usage(run: Run, name: str) -> None:
    told = run(name, "--help")
    assert (told.code, told.err) == (0, "")
    assert f"usage: headrace {name}" in told.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_has_its_module(name: str) -> None:
    module = import_module(COMMANDS[name].module)
    assert callable(module.add_parser)
    assert callable(module.run)


def test_options_of_the_installation_may_stand_before_the_command(run: Run) -> None:
    ended = run("--state-dir", "nowhere", "consume", "t")
    assert ended.code == 2
    assert "nothing runs in nowhere" in ended.err


def test_a_table_whose_reader_has_left_ends_well() -> None:
    """`headrace topics | head -1`"""
    command = [sys.executable, "-m", "stream", "topics", "--state-dir", "/nowhere"]
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes, "wb") as nobody:
        ended = subprocess.run(command, stdout=nobody, stderr=subprocess.PIPE, check=False, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, b"")


@pytest.mark.parametrize(
    "words",
    [
        ["-c", "f", "dead-letters", "list"],
        ["dead-letters", "-c", "f", "list"],
        ["dead-letters", "list", "-c", "f"],
    ],
)
def test_the_installation_may_be_named_before_and_after_an_action(words: list[str]) -> None:
    _, arguments = parse(words)
    assert (arguments.config, arguments.action) == (Path("f"), "list")
