"""What a role takes from its configuration and environment, once, at its start."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from schemas.registry import Registry
from schemas.registry_client import RegistryClient
from stream.config.settings import Settings
from stream.fault_points import VARIABLE, FaultPoints
from stream.log.base import nowhere
from stream.role.async_registry import AsyncRegistry


def registry_of(settings: Settings) -> AsyncRegistry | None:
    """The schema registry, asked on a thread of its own; None where none is configured. To be closed."""
    if settings.registry_url is None:
        return None
    client = RegistryClient(settings.registry_url, time.monotonic)
    return AsyncRegistry(Registry(client, time.monotonic), client.close)


def fault_points() -> Callable[[str], None]:
    """What to call at the named points of a transaction: nothing, unless the environment names faults."""
    text = os.environ.get(VARIABLE, "")
    return FaultPoints.parse(text).reach if text else nowhere
