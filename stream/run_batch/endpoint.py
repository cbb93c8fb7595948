"""Which endpoint answers the batch, from what --endpoint and --model say. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from stream.config.findings import nearest
from stream.errors import UsageError
from workers.endpoint import Endpoint

_NO_NAME: Final = re.compile(r"[^a-zA-Z0-9._-]+")
_NAME_CHARS_MAX: Final = 100


def named_endpoint(endpoints: Mapping[str, Endpoint], endpoint: str | None, model: str | None) -> str | None:
    """The endpoint that is meant; None where nothing was said. UsageError with the nearest name for one that is not there."""
    if endpoint is not None:
        if endpoint not in endpoints:
            raise UsageError(f"no endpoint '{endpoint}'{nearest(endpoint, endpoints)}")
        return endpoint
    if model is None or model in endpoints:
        return model
    loading = [name for name, found in endpoints.items() if found.model == model]
    if len(loading) == 1:
        return loading[0]
    if loading:
        raise UsageError(f"model '{model}' is loaded by {', '.join(loading)}: say which with --endpoint")
    known = [*endpoints, *(found.model for found in endpoints.values() if found.engine == "vllm")]
    raise UsageError(f"no endpoint has the model '{model}'{nearest(model, known)}")


def only_endpoint(endpoints: Mapping[str, Endpoint]) -> str:
    """Where nothing was said and there is no choice; UsageError where there is one."""
    if len(endpoints) > 1:
        raise UsageError(f"say with --endpoint which one answers: {', '.join(endpoints)}")
    return next(iter(endpoints))


def endpoint_name(model: str) -> str:
    """A name that Kafka takes for a model's: its last part."""
    last = model.rstrip("/").rpartition("/")[2].lower()
    return _NO_NAME.sub("-", last).strip("-._")[:_NAME_CHARS_MAX] or "model"


def config_of(model: str, options: Mapping[str, Any]) -> str:
    """The configuration of an installation that serves one model, as TOML."""
    lines = [
        f"[endpoints.{_toml(endpoint_name(model))}]",
        'engine = "vllm"',
        f"model = {_toml(model)}",
    ]
    if "max_num_seqs" in options:
        lines.append(f"slots = {_toml(options['max_num_seqs'])}")
    if options:
        told = ", ".join(f"{name} = {_toml(value)}" for name, value in options.items())
        lines.append(f"options = {{ {told} }}")
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    """Texts, numbers and truths are written in TOML as in JSON."""
    return msgspec.json.encode(value).decode()
