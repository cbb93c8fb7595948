"""A start that is refused leaves the state directory's configuration as it was: the old installation is still there."""

from __future__ import annotations

from pathlib import Path

import pytest

from stream.config.settings import KafkaSettings, Settings
from stream.errors import StreamError
from stream.process_context import ProcessContext
from stream.supervisor.commands import RoleCommand
from stream.supervisor.up import UpDependencies, run_up

OLD, NEW = "# old\n", "# new\n"


class Refused(StreamError):
    """By this test."""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    (tmp_path / "new.toml").write_text(NEW)
    state = tmp_path / "state"
    state.mkdir()
    (state / "config.toml").write_text(OLD)
    return state


def up(state: Path, config: Path | None, parts: UpDependencies) -> None:
    with pytest.raises(Refused):
        run_up(Settings(kafka=KafkaSettings("127.0.0.1:1")), config, state, parts=parts)


@pytest.mark.parametrize("named", [True, False])
def test_a_start_whose_topics_are_refused_keeps_the_old_configuration(state: Path, named: bool) -> None:
    def refuse(settings: Settings, place: ProcessContext) -> None:
        raise Refused

    up(state, state.parent / "new.toml" if named else None, UpDependencies(prepare=refuse))
    assert (state / "config.toml").read_text() == OLD


def test_the_new_configuration_is_there_before_any_role_starts_as_it_was_when_it_was_read(
    state: Path,
) -> None:
    config = state.parent / "new.toml"

    def change(settings: Settings, place: ProcessContext) -> None:
        config.write_text("# changed meanwhile\n")

    def roles(settings: Settings, state_dir: Path) -> tuple[RoleCommand, ...]:
        assert (state / "config.toml").read_text().startswith(NEW)
        raise Refused

    up(state, config, UpDependencies(prepare=change, commands=roles))
