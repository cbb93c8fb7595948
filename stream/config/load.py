"""The file as settings, or everything that is wrong with it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, Final

from stream.config.addresses import PORT_MAX
from stream.config.endpoints import read_endpoints
from stream.config.findings import Findings
from stream.config.folder import folder_of
from stream.config.kafka import read_kafka
from stream.config.limits import read_limits
from stream.config.loops import find_loops
from stream.config.rules import text, whole
from stream.config.settings import Settings
from stream.config.table import Table
from stream.config.toml_lines import lines_of_keys
from stream.config.topics import is_prefix, read_inputs, read_outputs
from stream.errors import ConfigError
from workers.endpoint import Endpoint

#: Sections of features to come.
SECTIONS_LATER: Final = ("redis", "tenants", "gateway", "jobs", "cost", "cache", "lanes")


def load_settings(path: Path | None) -> Settings:
    """Read and check the whole file; without one: the built-in smollm2 endpoint on an embedded broker.

    ConfigError lists every finding as `file:line: what, nearest right name`.
    """
    if path is None:
        return Settings(endpoints={"smollm2": Endpoint("smollm2")})
    content = _content(path)
    try:
        values = tomllib.loads(content)
    except tomllib.TOMLDecodeError as wrong:
        raise ConfigError(_syntax(path, content, str(wrong))) from wrong
    except (ValueError, RecursionError) as wrong:  # numbers of thousands of digits, thousands of brackets
        raise ConfigError(f"{path}:1: is not TOML that can be read: {wrong}") from wrong
    findings = Findings(str(path), lines_of_keys(content))
    settings = _read(values, folder_of(path, content), findings)
    find_loops(settings, findings)
    findings.raise_any()
    return settings


def _content(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")  # some editors begin with a byte order mark
    except UnicodeDecodeError as wrong:
        raise ConfigError(f"{path}:1: is not UTF-8: {wrong.reason} at byte {wrong.start}") from wrong
    except OSError as wrong:
        raise ConfigError(f"{path}: cannot be read: {wrong.strerror}") from wrong


def _syntax(path: Path, content: str, message: str) -> str:
    """The parser's words, with the line in the place where editors look for it."""
    found = re.search(r"\s*\(at (?:line (\d+), column \d+|end of document)\)", message)
    line = content.count("\n") + 1
    if found and found.group(1):
        line = int(found.group(1))
    return f"{path}:{line}: is not TOML: {message[: found.start()] if found else message}"


def _read(values: dict[str, Any], folder: Path, findings: Findings) -> Settings:
    root = Table(values, (), findings)
    default = Settings()
    headrace = root.below("headrace")
    prefix = headrace.take("prefix", is_prefix, default.prefix)
    headrace.close()
    kafka, port = read_kafka(root, folder)
    settings = Settings(
        prefix=prefix,
        kafka=kafka,
        broker_port=port,
        registry_url=_read_registry(root.below("registry")),
        inputs=read_inputs(root.below("inputs"), prefix, folder),
        outputs=read_outputs(root.below("outputs"), prefix),
        endpoints=read_endpoints(root.below("endpoints"), folder),
        commit_interval_ms=_read_one(
            root.below("commit"), "interval_ms", 1, 10_000, default.commit_interval_ms
        ),
        metrics_port=_read_one(root.below("metrics"), "port", 0, PORT_MAX, default.metrics_port),
        limits=read_limits(root.below("limits")),
    )
    root.close(SECTIONS_LATER)
    _check_whole(settings, findings)
    return settings


def _read_registry(table: Table) -> str | None:
    url = table.take("url", _url, None)
    table.close()
    return url


def _url(value: object) -> str:
    import httpx  # noqa: PLC0415 - it takes as long as all else, and few have a registry

    taken = text(pattern=r"https?://\S+", like="an http:// or https:// address")(value)
    try:
        url = httpx.URL(taken)
    except httpx.InvalidURL as wrong:
        raise ValueError(f'must be an http:// or https:// address, "{taken}" is none: {wrong}') from wrong
    if not url.host or not (url.port is None or 1 <= url.port <= PORT_MAX):
        raise ValueError(f'must name a host, and a port from 1 to {PORT_MAX} if any, not "{taken}"')
    return taken


def _read_one(table: Table, key: str, low: int, high: int, default: int) -> int:
    value = table.take(key, whole(low, high), default)
    table.close()
    return value


def _check_whole(settings: Settings, findings: Findings) -> None:
    """What no single key shows."""
    if not settings.endpoints:
        findings.add(("endpoints",), "no endpoint: add [endpoints.NAME]")
    if settings.outputs.results == settings.outputs.dead_letters:
        findings.add(
            ("outputs", "dead_letters"), '"dead_letters" and "results" in [outputs] are the same topic'
        )
    for binding in settings.inputs:
        if binding.format == "avro-registry" and settings.registry_url is None:
            what = f'input "{binding.pattern}" needs a schema registry: add [registry] url = "http://…"'
            findings.add(("inputs", binding.pattern, "format"), what)
