"""The demo empties its own directory and nobody else's."""

from __future__ import annotations

from pathlib import Path

import pytest

from stream.demo.command import prepare
from stream.errors import UsageError


def test_a_directory_that_no_demo_made_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UsageError, match="is not empty and no earlier demo made it") as caught:
        prepare(tmp_path, "simulated")
    assert caught.value.exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_file_is_no_directory_to_empty(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(UsageError, match="cannot be used"):
        prepare(file, "simulated")


@pytest.mark.parametrize("there", [True, False])
def test_an_empty_or_missing_directory_becomes_the_demos(tmp_path: Path, there: bool) -> None:
    state_dir = tmp_path if there else tmp_path / "new"
    assert prepare(state_dir, "simulated") == state_dir / "demo.toml"


def test_what_an_earlier_demo_left_is_emptied(tmp_path: Path) -> None:
    prepare(tmp_path, "simulated")
    (tmp_path / "logs").mkdir()
    prepare(tmp_path, "vllm")
    assert [path.name for path in tmp_path.iterdir()] == ["demo.toml"]
