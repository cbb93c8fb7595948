"""The house stays in order: packages of our own names, files within their bounds, a structure page that is true."""

from __future__ import annotations

import runpy
from importlib.metadata import packages_distributions
from pathlib import Path
from statistics import median

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("headrace", "stream", "workers", "cache", "schemas")
VAGUE = {"utils.py", "util.py", "helpers.py", "helper.py", "common.py", "manager.py", "misc.py"}


def sources() -> list[Path]:
    return [path for package in (*PACKAGES, "tests", "benchmarks") for path in (ROOT / package).rglob("*.py")]


@pytest.mark.parametrize("name", PACKAGES)
def test_no_dependency_ships_a_package_of_our_name(name: str) -> None:
    assert set(packages_distributions().get(name, [])) <= {"headrace"}


def test_no_file_is_over_300_lines_and_the_median_is_under_100() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}
    assert {str(path): length for path, length in lengths.items() if length > 300} == {}
    assert median(length for length in lengths.values() if length) <= 100


def test_no_file_has_a_name_that_says_nothing() -> None:
    assert [str(path) for path in sources() if path.name in VAGUE] == []


def test_the_structure_page_names_every_module() -> None:
    page = (ROOT / "docs" / "structure.md").read_text(encoding="utf-8")
    assert page == runpy.run_path(str(ROOT / "scripts" / "structure"))["document"](), "run scripts/structure"
