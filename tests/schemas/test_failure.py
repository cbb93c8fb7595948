"""Every class has its stages, and no line of ours pairs a class with another one."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from schemas.failure import STAGES_OF, ErrorClass, Stage

ROOT = Path(__file__).resolve().parents[2]
MAKERS = ("Failure", "BadRecord", "RequestRejected")
#: Functions that make one of what they are given, or have read from a record.
HAND_ON = {
    ("schemas/errors.py", "__init__"),
    ("workers/errors.py", "__init__"),
    ("schemas/dead_letter.py", "_failure"),
    ("stream/exactly_once/reply_topic_failures.py", "give_up"),
}


class Call(NamedTuple):
    """A call in our sources, and the names of the members of ErrorClass and Stage among its arguments."""

    place: str
    function: str
    #: The function whose body it stands in.
    within: str
    classes: list[str]
    stages: list[str]


def calls() -> Iterator[Call]:
    for package in ("schemas", "cache", "workers", "stream"):
        for path in sorted((ROOT / package).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            yield from calls_in(tree, str(path.relative_to(ROOT)), "")


def calls_in(node: ast.AST, place: str, within: str) -> Iterator[Call]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        within = node.name
    if isinstance(node, ast.Call):
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        function = ast.unparse(node.func).split(".")[-1]
        yield Call(place, function, within, members(given, "ErrorClass"), members(given, "Stage"))
    for child in ast.iter_child_nodes(node):
        yield from calls_in(child, place, within)


def members(given: list[ast.expr], enum: str) -> list[str]:
    return [
        each.attr
        for each in given
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == enum
    ]


def test_every_class_has_its_stages() -> None:
    assert set(STAGES_OF) == set(ErrorClass)
    assert all(STAGES_OF.values())


def test_no_line_pairs_a_class_with_a_stage_that_is_not_its_own() -> None:
    found = list(calls())
    #: Of functions that are given a class and know the stage, as `give_up` does.
    stages_in: dict[str, set[str]] = defaultdict(set)
    for call in found:
        if call.stages and not call.classes:
            stages_in[call.within].update(call.stages)
    pairs = {
        (ErrorClass[name], Stage[stage], call.place)
        for call in found
        for name in call.classes
        for stage in call.stages or stages_in[call.function]
    }
    assert [pair for pair in pairs if pair[1] not in STAGES_OF[pair[0]]] == []
    assert (ErrorClass.TOO_LARGE, Stage.PUBLISH, "stream/exactly_once/pending_answers.py") in pairs, (
        "it looks at all"
    )


def test_class_and_stage_are_written_out_wherever_a_failure_is_made() -> None:
    made = [call for call in calls() if call.function in MAKERS]
    assert {(call.place, call.within) for call in made if not (call.classes and call.stages)} == HAND_ON
