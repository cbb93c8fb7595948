"""The copy of the configuration in the state directory means what the file meant, paths included."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from stream.config.load import load_settings
from stream.supervisor.config_copy import copy_config

AVRO = json.dumps({"type": "record", "name": "r", "fields": [{"name": "custom_id", "type": "string"}]})


def copied(config: Path, state: Path) -> Path:
    copy_config(config, state)()
    return state / "config.toml"


def test_the_configuration_is_copied_and_a_later_start_without_one_removes_the_copy(tmp_path: Path) -> None:
    config, state = tmp_path / "my.toml", tmp_path / "state"
    config.write_text('[headrace]\nprefix = "x."')
    assert tomllib.loads(copied(config, state).read_text()) == {"headrace": {"prefix": "x."}}
    copy_config(None, state)()
    assert not (state / "config.toml").exists()


@pytest.mark.parametrize("name", ["it's", 'a "b"', "back\\slash", "ü 中"])
@pytest.mark.parametrize("quote", ["'", '"', '"""', "'''"])
def test_paths_are_found_from_the_copy_whatever_folder_and_quotes(
    tmp_path: Path, name: str, quote: str
) -> None:
    folder = tmp_path / name
    (folder / "models" / "mine").mkdir(parents=True)
    (folder / "review.avsc").write_text(AVRO)
    config = folder / "my.toml"
    config.write_text(
        f'[inputs.reviews]\nformat = "avro"\n"schema" = {quote}review.avsc{quote}\n'
        '[endpoints.m]\nmodel = "models/mine"\noptions = { chat_template = "./chat.jinja" }\n'
    )
    original, copy = load_settings(config), load_settings(copied(config, tmp_path / "state"))
    assert copy == original
    schemas = [binding.schema for binding in copy.inputs if binding.schema is not None]
    assert schemas == [str(folder / "review.avsc")]
    assert copy.endpoints["m"].model == str(folder / "models" / "mine")
    assert copy.endpoints["m"].options["chat_template"] == str(folder / "chat.jinja")


def test_a_copy_of_the_copy_still_means_the_first_file(tmp_path: Path) -> None:
    config = tmp_path / "my.toml"
    config.write_text('[endpoints.m]\nmodel = "./mine"\n')
    again = copied(copied(config, tmp_path / "one"), tmp_path / "two")
    assert load_settings(again).endpoints["m"].model == str(tmp_path / "mine")


def test_starting_on_the_copy_itself_leaves_it(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[headrace]\n")
    copy_config(tmp_path / "config.toml", tmp_path)()
    assert (tmp_path / "config.toml").read_text() == "[headrace]\n"


def test_client_certificates_are_relative_to_the_file(tmp_path: Path) -> None:
    config = tmp_path / "my.toml"
    config.write_text(
        '[kafka]\nbootstrap_servers = "k:1"\nclient = { "ssl.ca.location" = "ca.pem", "client.rack" = "r" }\n'
        '[endpoints.m]\nmodel = "somebody/hub-name"\n'
    )
    settings = load_settings(copied(config, tmp_path / "state"))
    assert settings.kafka is not None
    assert settings.kafka.client == {"ssl.ca.location": str(tmp_path / "ca.pem"), "client.rack": "r"}
    assert settings.endpoints["m"].model == "somebody/hub-name"
