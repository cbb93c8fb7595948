"""Where a process runs: the broker it talks to and the folder it may write in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class ProcessContext:
    """Resolved once by the command line, handed to the role."""

    bootstrap_servers: str
    state_dir: Path
    #: Name in runtime.json and metrics_urls: `dispatcher-00`, `worker-sim-00`.
    process_name: str
    #: Further librdkafka settings (security).
    client: Mapping[str, str] = field(default_factory=dict)
