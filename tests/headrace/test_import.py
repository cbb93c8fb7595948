"""`import headrace` gives the public API, or says in one sentence what hides a package of ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import headrace

ROOT = Path(__file__).resolve().parents[2]
NAMES = ("schemas", "cache", "workers", "stream")
WAIT_S = 120.0


def run(here: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        words, cwd=here, env=environment, capture_output=True, text=True, timeout=WAIT_S, check=False
    )


def own(here: Path, name: str) -> Path:
    """A package of the user's."""
    folder = here / name
    folder.mkdir()
    (folder / "__init__.py").touch()
    return folder


def test_the_public_names_are_there_and_no_others() -> None:
    assert list(headrace.__all__) == sorted(headrace.__all__)
    assert all(hasattr(headrace, name) for name in headrace.__all__)


def test_the_whole_package_stays_small() -> None:
    files = (ROOT / "headrace").rglob("*.py")
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) < 60


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_that_hides_one_of_ours_is_named_in_one_sentence(tmp_path: Path, name: str) -> None:
    folder = own(tmp_path, name)
    ended = run(tmp_path, sys.executable, "-c", "import headrace")
    last = ended.stderr.splitlines()[-1]
    assert last == (
        f"ImportError: {folder.resolve()} hides Headrace's own package '{name}': rename it, or take it off sys.path"
    )


def test_a_file_that_hides_one_of_ours_is_named_too(tmp_path: Path) -> None:
    (tmp_path / "cache.py").touch()
    ended = run(tmp_path, sys.executable, "-c", "import headrace")
    assert f"ImportError: {(tmp_path / 'cache.py').resolve()} hides" in ended.stderr


def test_folders_that_are_no_packages_hide_nothing(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).mkdir()
    ended = run(tmp_path, sys.executable, "-c", "from headrace import Client; print(Client.__name__)")
    assert (ended.stdout, ended.stderr) == ("Client\n", "")


@pytest.mark.parametrize(
    "command", [[str(Path(sys.executable).parent / "headrace")], [str(ROOT / "scripts" / "headrace")]]
)
def test_the_commands_work_where_such_folders_lie(tmp_path: Path, command: list[str]) -> None:
    for name in NAMES:
        own(tmp_path, name)
    if not Path(command[0]).exists():
        pytest.skip("not installed: scripts/install")
    config = tmp_path / "headrace.toml"
    config.write_text('[endpoints.sim]\nengine = "simulated"\n')
    ended = run(tmp_path, *command, "config", "check", str(config))
    assert (ended.returncode, ended.stderr) == (0, "")
