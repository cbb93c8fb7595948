"""Which worker of this machine has begun a record, from the start journals in the state directory."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from schemas.source import Source
from workers.journal import journal_path


class Journals:
    """The journals of the processes that run now; workers on other machines keep theirs to themselves."""

    def __init__(self, state_dir: Path, running: Collection[str]) -> None:
        self._started = {name: _starts(journal_path(state_dir, name)) for name in running}

    def started_by(self, source: Source) -> str | None:
        """The process that has begun it."""
        for name, sources in self._started.items():
            if str(source) in sources:
                return name
        return None


def running_workers(runtime: Mapping[str, Any]) -> list[str]:
    """Names of the workers that runtime.json says to run."""
    processes = runtime.get("processes", ())
    return [entry["name"] for entry in processes if entry["role"] == "worker" and entry["state"] == "running"]


def _starts(path: Path) -> frozenset[str]:
    segments = (path.with_name(path.name + ".1"), path)
    texts = [segment.read_text(encoding="utf-8") for segment in segments if segment.exists()]
    return frozenset(line.lstrip("=*") for text in texts for line in text.splitlines())
