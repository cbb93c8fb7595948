"""What differs between two answer bodies of one request, but for names and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

LOGPROB_ATOL: Final = 1e-3
#: Each side's own, or told by one side only.
_NOT_COMPARED: Final = frozenset(
    {"id", "created", "system_fingerprint", "prompt_tokens_details", "metrics", "object", "model"}
)


def differences(ours: Any, theirs: Any, place: str = "$") -> list[str]:
    """Places with both values; numbers may differ by LOGPROB_ATOL."""
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping):
        names = {str(name) for name in (*ours, *theirs)} - _NOT_COMPARED
        left, right = ({str(name): value for name, value in side.items()} for side in (ours, theirs))
        return [
            found
            for name in sorted(names)
            for found in differences(left.get(name), right.get(name), f"{place}.{name}")
        ]
    if _is_list(ours) and _is_list(theirs) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [found for index, (a, b) in pairs for found in differences(a, b, f"{place}[{index}]")]
    if isinstance(ours, float) and isinstance(theirs, (int, float)) and abs(ours - theirs) <= LOGPROB_ATOL:
        return []
    return [] if ours == theirs else [f"{place}: {ours!r} instead of {theirs!r}"]


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
