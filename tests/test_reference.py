"""docs/reference.md says what the code does."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from schemas import headers as names
from schemas.control import read_control
from schemas.dead_letter import HEADERS_OMITTED, KEY_OMITTED, DeadLetter, write_dead_letter
from schemas.failure import STAGES_OF, ErrorClass, Failure, Stage
from schemas.lane import LANES, Lane
from schemas.result import Facts, answer_value
from schemas.source import Source
from schemas.times import NO_TIMES
from stream.cli.ending import EXIT_DONE, EXIT_FAILED, EXIT_SIGINT, EXIT_USAGE
from stream.cli.parser import CommandModule
from stream.cli.registry import COMMANDS
from stream.config.load import load_settings
from stream.config.settings import KafkaSettings, Settings
from stream.errors import StreamError
from stream.metrics.pages import Pages
from stream.topics.plan import planned_topics
from workers.endpoint import Endpoint

DOCUMENT = (Path(__file__).resolve().parents[1] / "docs" / "reference.md").read_text(encoding="utf-8")


def section(title: str) -> str:
    return DOCUMENT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def rows(title: str) -> list[list[str]]:
    """Cells of the rows of a section's tables, without heads."""
    found = [line for line in section(title).splitlines() if line.startswith("| ") and "---" not in line]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in found]
    return [row for row in cells if row[0] not in ("command", "code", "topic", "header", "field", "class")]


def codes_in(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


@pytest.fixture
def example(tmp_path: Path) -> Settings:
    path = tmp_path / "headrace.toml"
    found = re.search(r"```toml\n(.*?)```", DOCUMENT, re.DOTALL)
    assert found
    path.write_text(found[1])
    return load_settings(path)


def test_what_the_example_calls_defaults_are_the_defaults(example: Settings) -> None:
    assert isinstance(example.kafka, KafkaSettings)
    usual = replace(
        example, kafka=None, registry_url=None, inputs=example.inputs[:1], endpoints=Settings().endpoints
    )
    assert usual == Settings()
    endpoint = example.endpoints["smollm2"]
    assert endpoint.partitions == Endpoint("smollm2").partitions_count
    usual_endpoint = replace(endpoint, partitions=None, options={}, tool_parser=None, reasoning_parser=None)
    assert usual_endpoint == Endpoint("smollm2")


def test_the_example_has_every_key() -> None:
    text = DOCUMENT.partition("```toml")[2].partition("```")[0]
    keys = {*Endpoint.__dataclass_fields__, *type(Settings().limits).__dataclass_fields__} - {"name"}
    assert [key for key in sorted(keys) if not re.search(rf"^{key} = ", text, re.MULTILINE)] == []


@pytest.mark.parametrize(
    "name", [names.SESSION, names.TENANT, names.LANE, names.DEADLINE, names.REPLY_TO, names.ERRORS]
)
def test_every_control_header_is_explained(name: str) -> None:
    assert f"| `{name}` |" in DOCUMENT


def test_the_values_that_the_headers_take_are_as_explained() -> None:
    control = read_control(
        [(names.LANE, b"interactive"), (names.ERRORS, b"result"), (names.REPLY_TO, b"t:3")]
    )
    assert (control.lane, control.errors, control.reply_to) == ("interactive", "result", ("t", 3))


def test_the_command_line_has_every_command_and_no_other() -> None:
    assert [codes_in(row[0])[0].removeprefix("headrace ") for row in rows("Command line")] == list(COMMANDS)


@pytest.mark.parametrize("command", ["dead-letters", "quarantine", "config"])
def test_each_action_of_a_command_is_named(command: str) -> None:
    [told] = [row[1] for row in rows("Command line") if row[0] == f"`headrace {command}`"]
    commands = argparse.ArgumentParser().add_subparsers()
    module: CommandModule = import_module(COMMANDS[command].module)
    module.add_parser(commands)
    [actions] = [
        action.choices
        for action in commands.choices[command]._actions
        if isinstance(action, argparse._SubParsersAction)
    ]
    assert [action for action in actions if not re.search(rf"`{action}\b", told)] == []


def errors(root: type[StreamError]) -> Iterator[type[StreamError]]:
    yield root
    for below in root.__subclasses__():
        yield from errors(below)


def test_the_exit_codes_are_those_of_the_code() -> None:
    ends = {
        EXIT_DONE,
        EXIT_FAILED,
        EXIT_USAGE,
        EXIT_SIGINT,
        *(each.exit_code for each in errors(StreamError)),
    }
    assert [int(row[0]) for row in rows("Exit codes")] == sorted(ends)


def test_the_topics_are_those_of_the_plan() -> None:
    """Compaction and retention too: a topic that loses records says so."""
    told = {codes_in(row[0])[0]: row for row in rows("Topics")}
    plans = {plan.name: plan for plan in planned_topics(Settings())}
    assert set(told) == {*plans, "headrace.work.ENDPOINT.LANE"}
    for name, plan in plans.items():
        assert told[name][1] == str(plan.partitions)
        cleanup = told[name][2]
        assert cleanup.startswith("compact") == (plan.settings.get("cleanup.policy") == "compact")
        assert ("retention off" in cleanup) == (plan.settings.get("retention.ms") == "-1")
    settings = Settings()
    assert settings.work_topic("ENDPOINT", Lane.BATCH) == "headrace.work.ENDPOINT.batch"
    assert f"`{settings.dispatcher_group}`, `{settings.worker_group('ENDPOINT')}`" in section("Topics")
    assert f"`{settings.own_topic('replay')}` for dead letters" in section("Topics")
    assert ", ".join(f"`{lane}`" for lane in LANES) in section("Topics")


def test_the_classes_are_those_of_the_code_with_their_stages() -> None:
    told = {codes_in(row[0])[0]: set(row[1].split(", ")) for row in rows("Classes of errors")}
    assert told == {str(name): {str(stage) for stage in stages} for name, stages in STAGES_OF.items()}


def header_names() -> set[str]:
    """All names of headers in the code, prefixes left out."""
    values = {value for value in vars(names).values() if isinstance(value, str)}
    return {value for value in values if re.fullmatch(r"headrace-[a-z-]+", value) and value != "headrace-"}


def test_every_header_of_the_code_is_explained() -> None:
    assert [name for name in sorted(header_names()) if f"`{name}`" not in DOCUMENT] == []


def test_no_header_is_explained_that_the_code_does_not_have() -> None:
    told = set(re.findall(r"`(headrace-[a-z-]+)`", DOCUMENT)) - {"headrace-"}
    assert told <= header_names() | {HEADERS_OMITTED, KEY_OMITTED}


def test_a_dead_letter_has_the_headers_that_are_named() -> None:
    failure = Failure(ErrorClass.INVALID, Stage.VALIDATE, "x")
    letter = DeadLetter(None, b"x", (), Source("t", 0, 1), 0, "group", failure)
    written = {name for name, _ in write_dead_letter(letter).headers}
    told = section("Headers of a dead letter")
    short = {
        name.removeprefix(names.DLQ_PREFIX.removesuffix(".")) for name in written if name.startswith("__dlq")
    }
    assert [name for name in short if f"{name}`" not in told] == []


def test_a_result_has_the_fields_that_are_named() -> None:
    facts = Facts(Source("t", 0, 1), "e", "t", Lane.BATCH, 1, NO_TIMES, ignored=("$.user",), ignored_count=1)
    line = json.loads(answer_value(facts, "a", {}, {"max_tokens": 1}))
    [named] = [row[1] for row in rows("Results and usage") if row[0] == "`headrace`"]
    assert set(line) == {name for row in rows("Results and usage") for name in codes_in(row[0])}
    assert [name for name in line["headrace"] if not re.search(rf"\b{name}\b", named)] == []
    assert [name for name in line["headrace"]["times_ms"] if f"`{name}`" not in named] == []


def test_the_paths_of_a_role_are_those_that_it_serves() -> None:
    pages = Pages(CollectorRegistry())
    assert re.findall(r"`(/[a-z]+)`", section("Metrics")) == ["/metrics", "/livez", "/readyz"]
    assert [pages._page(path).status[:3] for path in ("/livez", "/readyz", "/other")] == ["200", "503", "404"]
