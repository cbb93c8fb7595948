"""docs/configuration.md says what the code does."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from schemas import headers as names
from schemas.control import read_control
from stream.config.load import load_settings
from stream.config.settings import KafkaSettings, Settings
from workers.endpoint import Endpoint

DOCUMENT = (Path(__file__).parents[3] / "docs" / "configuration.md").read_text(encoding="utf-8")


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
