"""Texts with columns in braces, and bodies made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stream.errors import UsageError
from stream.run_batch.body import body_template, read_body
from stream.run_batch.template import Template, check_columns


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("Classify: {text}", "Classify: good"),
        ("{text}{text}", "goodgood"),
        ("no column", "no column"),
        ("{{{text}}}", "{good}"),
        ("{a column}", "7"),
        ("<{nothing}>", "<>"),
        ("", ""),
    ],
)
def test_columns_stand_in_braces(text: str, filled: str) -> None:
    assert Template.parse(text).fill({"text": "good", "a column": 7, "nothing": None}) == filled


@pytest.mark.parametrize("text", ["{", "}", "{}", "{text!r}", "{text:>8}"])
def test_braces_that_name_no_column_are_refused_with_what_is_right(text: str) -> None:
    with pytest.raises(UsageError, match=r"write \{column\} for a column"):
        Template.parse(text)


def test_a_column_that_is_not_there_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match=r"reviews\.csv has no column 'txt', did you mean \"text\"\?"):
        check_columns(["txt"], ["id", "text"], "reviews.csv")


def filled(row: dict[str, object], **options: Any) -> dict[str, Any]:
    return body_template(model="sim", **{"base": {}, **options}).fill(row)


def test_a_prompt_becomes_a_chat() -> None:
    body = filled(
        {"text": "good", "who": "ann"},
        prompt="Classify: {text}",
        system="You help {who}.",
        tokens_max=8,
        choices=["yes", "{no}"],
    )
    assert body == {
        "model": "sim",
        "messages": [
            {"role": "system", "content": "You help ann."},
            {"role": "user", "content": "Classify: good"},
        ],
        "max_tokens": 8,
        "structured_outputs": {"choice": ["yes", "{no}"]},
    }


def test_a_body_has_columns_in_all_its_texts_and_keeps_the_type_of_one_that_is_alone() -> None:
    base = {"prompt": "{text}", "seed": "{seed}", "metadata": {"row": "r-{seed}"}, "stop": ["\n"], "n": 2}
    assert filled({"text": "good", "seed": 7}, base=base) == {
        "model": "sim",
        "prompt": "good",
        "seed": 7,
        "metadata": {"row": "r-7"},
        "stop": ["\n"],
        "n": 2,
    }


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ({"messages": []}, "/v1/chat/completions"),
        ({"prompt": "x"}, "/v1/completions"),
        ({"input": "x"}, "/v1/embeddings"),
    ],
)
def test_the_url_follows_from_what_the_body_holds(base: dict[str, Any], url: str) -> None:
    assert body_template(model="sim", base=base).url == url


@pytest.mark.parametrize("base", [{}, {"prompt": "x", "input": "y"}])
def test_a_body_that_asks_for_nothing_or_for_two_things_is_refused(base: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="give --prompt"):
        body_template(model="sim", base=base)


@pytest.mark.parametrize(
    ("content", "words"), [(None, "cannot be read"), ("{", "is not JSON"), ("[]", "not a JSON object")]
)
def test_a_body_file_that_is_no_object_is_refused(tmp_path: Path, content: str | None, words: str) -> None:
    path = tmp_path / "body.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(UsageError, match=words):
        read_body(path)
