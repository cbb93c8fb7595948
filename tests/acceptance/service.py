"""A real `headrace up`: embedded Kafka, dispatcher, worker with the simulated engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from schemas.avro_line import REQUEST_LINE
from stream.demo.installation import DemoInstallation
from tests.acceptance.avro_cases import PLAIN, WIRE

#: A name that Kafka, Java and its properties files must get right.
STATE_DIR = "zustand ø\U0001f600 #1=\\x"
CONFIG = """
[registry]
url = "{registry}"
[inputs."headrace.requests"]
[inputs."{plain}"]
format = "avro"
schema = "{schema}"
[inputs."{wire}"]
format = "avro-registry"
[endpoints.sim]
engine = "simulated"
slots = 64
options = {{ max_model_len = 4096 }}
"""


class Service:
    """One installation that runs."""

    def __init__(self, bootstrap_servers: str, state_dir: Path) -> None:
        self.bootstrap_servers = bootstrap_servers
        self.state_dir = state_dir
        self._runtime_file = state_dir / "runtime.json"
        self.processes_at_start = self.processes()

    def processes(self) -> dict[str, Any]:
        """Name -> (pid, state)."""
        found = json.loads(self._runtime_file.read_text())["processes"]
        return {entry["name"]: (entry["pid"], entry["state"]) for entry in found}

    def has_data(self, topic: str) -> bool:
        """Whether the topic's first partition lies in the state directory."""
        return (self.state_dir / "broker" / "data" / f"{topic}-0").is_dir()


@contextmanager
def running(folder: Path, registry_url: str) -> Iterator[Service]:
    """Up when the block begins, stopped when it ends."""
    schema, config, state_dir = folder / "line.avsc", folder / "headrace.toml", folder / STATE_DIR
    state_dir.mkdir()
    schema.write_text(REQUEST_LINE)
    config.write_text(CONFIG.format(registry=registry_url, plain=PLAIN, wire=WIRE, schema=schema))
    installation = DemoInstallation(config, state_dir)
    try:
        yield Service(installation.wait_ready(), state_dir)
    finally:
        installation.stop()
