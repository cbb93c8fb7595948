"""docs/requests.md tells what the code does, and its examples can be sent as they stand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from schemas.decode import Decoder
from schemas.errors import BadRecord
from schemas.fields.document import document
from schemas.task import Task
from tests.schemas.lines import as_json, chat

PAGE = (Path(__file__).parents[2] / "docs" / "requests.md").read_text(encoding="utf-8")
EXAMPLES = [
    line for block in re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()
]
DECODER = Decoder()


def test_the_tables_are_made_from_the_registry() -> None:
    assert document(PAGE) == PAGE


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_is_a_request_of_which_every_field_counts(example: str) -> None:
    assert DECODER.decode(example.encode()).ignored_count == 0


def test_there_is_an_example_of_each_task_and_structure() -> None:
    assert {DECODER.decode(example.encode()).task for example in EXAMPLES} == set(Task)
    for field in ("structured_outputs", "response_format", "tools", "tool_calls"):
        assert any(field in json.dumps(json.loads(example)) for example in EXAMPLES)


@pytest.mark.parametrize("body", [{"temperature": 7}, {"stream": True}, {"max_token": 5}])
def test_the_messages_on_the_page_are_those_of_the_code(body: dict[str, object]) -> None:
    with pytest.raises(BadRecord) as caught:
        DECODER.decode(as_json(chat(**body)), refuse_unknown=True)
    assert f"`{caught.value.failure.message}`" in PAGE


def test_the_page_fits() -> None:
    assert PAGE.count("\n") <= 300
