"""From a model's name to a folder, and how a folder is made once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from workers.errors import EngineStartError, ModelError
from workers.models import CACHE_VARIABLE, cache_folder, make_once, resolve_model


def test_the_cache_folder_is_named_by_the_environment_or_lies_in_the_users_cache(tmp_path: Path) -> None:
    assert cache_folder({CACHE_VARIABLE: str(tmp_path)}) == tmp_path
    assert cache_folder({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "headrace"
    assert cache_folder({}) == Path.home() / ".cache" / "headrace"


def test_a_folder_is_taken_as_it_is_and_another_name_is_left_to_the_hub(tmp_path: Path) -> None:
    assert resolve_model(str(tmp_path), tmp_path) == str(tmp_path)
    assert resolve_model("owner/model", tmp_path) == "owner/model"


def test_a_folder_that_does_not_exist_is_an_error_that_ends_the_start(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="does not exist"):
        resolve_model(str(tmp_path / "none"), tmp_path)
    assert issubclass(ModelError, EngineStartError)


def test_a_folder_is_made_once_however_many_want_it(tmp_path: Path) -> None:
    made: list[int] = []

    def make(folder: Path) -> None:
        made.append(1)
        (folder / "weights").write_text("all", encoding="utf-8")

    folder = tmp_path / "models" / "one"
    threads = [threading.Thread(target=make_once, args=(folder, make)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert made == [1]
    assert (folder / "weights").read_text(encoding="utf-8") == "all"
    assert {path.name for path in folder.parent.iterdir()} == {"one", "one.lock"}


def test_a_folder_whose_making_failed_is_not_there_and_may_be_made_again(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise OSError("disk full")

    folder = tmp_path / "one"
    with pytest.raises(OSError, match="disk full"):
        make_once(folder, fail)
    assert not folder.exists()
    make_once(folder, lambda aside: (aside / "whole").touch())
    assert [path.name for path in folder.iterdir()] == ["whole"]
