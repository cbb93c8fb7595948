"""Whether vLLM knows the names of an endpoint's options, asked of its source: importing it takes half a minute."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from stream.config.findings import nearest

CLASSES: Final = ("EngineArgs", "AsyncEngineArgs")


def known_options() -> frozenset[str]:
    """The fields of vLLM's AsyncEngineArgs; empty where vLLM is not installed, or keeps them elsewhere."""
    found = find_spec("vllm")
    if found is None or found.origin is None:
        return frozenset()
    source = Path(found.origin).parent / "engine" / "arg_utils.py"
    return fields_of(source.read_text(encoding="utf-8")) if source.is_file() else frozenset()


def fields_of(source: str) -> frozenset[str]:
    """The annotated names of its argument classes."""
    classes = [
        node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name in CLASSES
    ]
    names = (
        each.target.id
        for node in classes
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    )
    return frozenset(names)


def unknown(options: Iterable[str], known: frozenset[str]) -> list[str]:
    """A line for each name that vLLM does not know; none where nobody knows its names."""
    if not known:
        return []
    return [f'vLLM has no option "{name}"{nearest(name, known)}' for name in options if name not in known]
