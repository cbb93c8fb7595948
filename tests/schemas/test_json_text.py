"""The count of levels is exact for JSON, whatever stands in its strings."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from schemas.json_text import deeper_than

TEXT = st.text('[]{}"\\ ab\n', max_size=8)
TREES = st.recursive(
    TEXT | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=20,
)


def depth_of(tree: Any) -> int:
    if isinstance(tree, dict):
        tree = list(tree.values())
    return 1 + max(map(depth_of, tree), default=0) if isinstance(tree, list) else 0


@given(TREES, st.integers(0, 8))
def test_it_is_deeper_exactly_when_the_tree_is(tree: Any, levels: int) -> None:
    assert deeper_than(json.dumps(tree).encode(), levels) == (depth_of(tree) > levels)
    assert deeper_than(json.dumps(tree, indent=1).encode(), levels) == (depth_of(tree) > levels)
