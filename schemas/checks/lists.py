"""Prompts and inputs that are lists: texts, token ids of one text, or lists of token ids, and never mixed."""

from __future__ import annotations

from typing import Any

from schemas.errors import BadRecord
from schemas.limits import INPUT_TOKENS_MAX


def check_list(field: str, given: list[Any], items_max: int) -> None:
    """BadRecord where it is mixed or too long. `items_max`: of texts, or of lists of token ids."""
    kinds = {item.__class__ for item in given}
    if len(kinds) > 1:
        raise BadRecord.invalid(f"{field}: texts and token ids are mixed; right is one or the other")
    if kinds == {int}:
        return
    if len(given) > items_max:
        words = "texts" if kinds == {str} else "lists of token ids"
        raise BadRecord.invalid(
            f"{field}: {len(given)} {words}; right are at most {items_max} in one request"
        )
    tokens = 0 if kinds == {str} else sum(map(len, given))
    if tokens > INPUT_TOKENS_MAX:
        raise BadRecord.invalid(
            f"{field}: {tokens} token ids; right are at most {INPUT_TOKENS_MAX} in one request"
        )
