"""`[endpoints.NAME]`: what it may say."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from stream.config.folder import model_in, paths_in
from stream.config.rules import any_table, number, one_of, text, whole
from stream.config.table import Table
from workers.endpoint import Endpoint, SimulatedTimes

ENGINES: Final = ("vllm", "simulated")
ENGINES_LATER: Final = ("pyfunc", "openai")
KEYS_LATER: Final = ("lanes", "adapters", "response_cache", "kv_tiers", "cost")
#: Slots of workers have two digits in names of clients and processes.
WORKERS_MAX: Final = 99
TOKENS_MAX: Final = 2**31 - 1
#: A name is part of topic, group and process names.
NAME: Final = r"[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}"


def read_endpoints(tables: Table, folder: Path) -> dict[str, Endpoint]:
    """All endpoints by name; findings go to the table's collector. Paths are relative to `folder`."""
    found: dict[str, Endpoint] = {}
    for name, table in tables.each():
        if not re.fullmatch(NAME, name):
            tables.wrong(
                name, 'cannot be part of a topic name: letters, digits, ".", "_" and "-", at most 100'
            )
        twin = next((other for other in found if _alike(other) == _alike(name)), None)
        if twin is not None:
            tables.wrong(
                name, f'and "{twin}" differ only in "." and "_": Kafka refuses such topics side by side'
            )
        found[name] = _read_endpoint(name, table, folder)
    return found


def _alike(name: str) -> str:
    # Kafka's metric names replace dots, so it takes such topics for the same.
    return name.replace(".", "_")


def _read_endpoint(name: str, table: Table, folder: Path) -> Endpoint:
    default = Endpoint(name)
    engine = table.take("engine", one_of(ENGINES, ENGINES_LATER), default.engine)
    endpoint = Endpoint(
        name=name,
        engine=engine,
        model=model_in(folder, table.take("model", text(), default.model)),
        workers=table.take("workers", whole(1, WORKERS_MAX), default.workers),
        partitions=table.take("partitions", whole(1, 10_000), default.partitions),
        slots=table.take("slots", whole(1, 4096), default.slots),
        order=table.take("order", one_of(("session", "serial", "none")), default.order),
        attempts_max=table.take("attempts_max", whole(1, 100), default.attempts_max),
        poison_deaths_max=table.take("poison_deaths_max", whole(1, 1000), default.poison_deaths_max),
        options=paths_in(folder, _read_options(table, engine)),
        tool_parser=table.take("tool_parser", text(), None),
        reasoning_parser=table.take("reasoning_parser", text(), None),
        simulated=_read_times(table.below("simulated")),
    )
    if endpoint.partitions is not None and endpoint.partitions < endpoint.workers:
        table.wrong(
            "partitions", f"must be at least the {endpoint.workers} workers: the others would get no work"
        )
    if table.has("simulated") and endpoint.engine != "simulated":
        table.wrong("simulated", f'is only for engine = "simulated", this one is "{endpoint.engine}"')
    table.close(KEYS_LATER)
    return endpoint


def _read_options(table: Table, engine: str) -> Mapping[str, Any]:
    """vLLM checks its own, hundreds of them, when it starts; the simulated engine has one."""
    if engine != "simulated":
        return table.take("options", any_table, {})
    options = table.below("options")
    tokens_max = options.take("max_model_len", whole(1, TOKENS_MAX), None)
    options.close()
    return {} if tokens_max is None else {"max_model_len": tokens_max}


def _read_times(table: Table) -> SimulatedTimes:
    default = SimulatedTimes()
    times = SimulatedTimes(
        prefill_tokens_per_s=table.take("prefill_tokens_per_s", number(0, 1e9), default.prefill_tokens_per_s),
        decode_tokens_per_s=table.take("decode_tokens_per_s", number(0, 1e9), default.decode_tokens_per_s),
        start_s=table.take("start_s", number(0, 3600), default.start_s),
    )
    table.close()
    return times
