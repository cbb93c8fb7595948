"""What became of a request, read from a result, from an error that travels as one, or from a dead letter."""

from __future__ import annotations

import msgspec
import pytest

from schemas import headers as names
from schemas.headers import Headers
from stream.client.answer import Answer, read_answer

SOURCE = [(names.SOURCE, b"in/0/0")]


def result(**fields: object) -> bytes:
    return msgspec.json.encode({"custom_id": "a", "response": None, "error": None, **fields})


@pytest.mark.parametrize("choice", [{"message": {"content": "fine"}}, {"text": "fine"}])
def test_a_result_is_read_with_its_source_and_text(choice: dict[str, object]) -> None:
    value = result(response={"body": {"choices": [choice]}})
    found = read_answer(value, [*SOURCE])
    assert found == Answer("in/0/0", "a", value)
    assert (found.ok, found.text) == (True, "fine")


def test_an_error_that_travels_as_a_result_is_no_answer() -> None:
    value = result(error={"code": "expired", "message": "too late"})
    assert read_answer(value, [*SOURCE]) == Answer("in/0/0", "a", value, "expired", "", "too late")


def test_a_dead_letter_is_known_by_its_class_header() -> None:
    headers: Headers = [
        *SOURCE,
        (names.ERROR_CLASS, b"invalid"),
        (names.STAGE, b"validate"),
        (names.DLQ_PREFIX + "message", b"why"),
    ]
    assert read_answer(b"original", headers) == Answer(
        "in/0/0", None, b"original", "invalid", "validate", "why"
    )


@pytest.mark.parametrize("value", [b"nonsense", b"[]", None])
def test_what_is_no_output_of_the_service_is_none(value: bytes | None) -> None:
    assert read_answer(value, [*SOURCE]) is None
    assert read_answer(value, []) is None


def test_an_answer_without_text_says_so() -> None:
    found = read_answer(result(response={"body": {"data": []}}), [*SOURCE])
    assert found is not None
    with pytest.raises(ValueError, match="the answer to in/0/0 has no text"):
        _ = found.text
