"""Whether the dispatcher would take a value: the same decoder, asked before anything is sent."""

from __future__ import annotations

import time
from contextlib import closing

from schemas.decode import Decoder
from schemas.errors import BadRecord, RegistryUnavailable
from schemas.registry import Registry
from schemas.registry_client import RegistryClient
from stream.config.settings import Settings
from stream.dispatcher.bindings import Bindings


def fault_of(value: bytes, topic: str, settings: Settings) -> str | None:
    """What is wrong with it as a record of this input topic; None: nothing. TopicMismatch: it is no input's."""
    bindings = Bindings(settings)
    form = bindings.find(topic).format
    try:
        if settings.registry_url is None:
            request = _decoder(settings, bindings, None).decode(value, form)
        else:
            with closing(RegistryClient(settings.registry_url, time.monotonic)) as client:
                registry = Registry(client, time.monotonic)
                request = _decoder(settings, bindings, registry).decode(value, form)
    except BadRecord as bad:
        return f"{bad.failure.error_class}: {bad.failure.message}"
    except RegistryUnavailable as silent:
        return f"nobody can say whether it is right: {silent}"
    model = request.body.model
    if model not in settings.endpoints:
        return f"unknown_endpoint: $.body.model: no endpoint {model[:100]!r}; there are {', '.join(settings.endpoints)}"
    return None


def _decoder(settings: Settings, bindings: Bindings, registry: Registry | None) -> Decoder:
    limit = settings.limits.value_bytes_max
    return Decoder(avro=bindings.avro, registry=registry, value_bytes_max=limit)
