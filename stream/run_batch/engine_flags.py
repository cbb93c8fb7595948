"""The flags of `vllm run-batch`: which of them an engine of the batch's own takes, and what to do in the place of others."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn

from stream.errors import UsageError

#: Options of the engine by their flag, with their type: for an engine that run-batch starts itself.
ENGINE_FLAGS: Final[Mapping[str, Callable[[str], Any]]] = {
    "max-model-len": int,
    "max-num-seqs": int,
    "max-num-batched-tokens": int,
    "gpu-memory-utilization": float,
    "tensor-parallel-size": int,
    "pipeline-parallel-size": int,
    "dtype": str,
    "kv-cache-dtype": str,
    "quantization": str,
    "revision": str,
    "tokenizer": str,
    "load-format": str,
}
_IN_CONFIG: Final = "is an option of the engine: write it in [endpoints.NAME] options of a configuration, and give that with -c"
_METRICS: Final = (
    "each role serves its metrics by itself: `headrace status --json` and runtime.json name the addresses"
)
#: Flags that mean nothing here, and what to do.
REFUSED: Final[Mapping[str, str]] = {
    "enable-metrics": _METRICS,
    "host": _METRICS,
    "port": _METRICS,
    "url": _METRICS,
    "output-tmp-dir": "the output is written where -o says, as the answers come; upload it when it is done",
    "scheduling-policy": "priority is the lane of the records: --lane batch or --lane interactive",
    "api-key": "there is no server to call; rights are those of the Kafka client in [kafka] client",
    "trust-remote-code": _IN_CONFIG,
    "seed": "the seed of a request is body.seed",
    "enforce-eager": _IN_CONFIG,
    "enable-prefix-caching": _IN_CONFIG,
    "enable-lora": _IN_CONFIG,
    "chat-template": _IN_CONFIG,
    "reasoning-parser": _IN_CONFIG,
    "tool-call-parser": _IN_CONFIG,
    "enable-auto-tool-choice": _IN_CONFIG,
    "response-role": _IN_CONFIG,
    "data-parallel-size": "more engines are `workers = N` in [endpoints.NAME] of a configuration, given with -c",
    "disable-log-stats": "logs are in the folder logs of the state directory",
    "max-log-len": "logs are in the folder logs of the state directory",
}


class _Refused(argparse.Action):
    """Says by name what to do in its place."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002
        namespace: argparse.Namespace,  # noqa: ARG002
        values: str | Sequence[Any] | None,  # noqa: ARG002
        option_string: str | None = None,
    ) -> NoReturn:
        raise UsageError(
            f"{option_string} means nothing here: {REFUSED[(option_string or '').removeprefix('--')]}"
        )


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Both kinds."""
    for name, kind in ENGINE_FLAGS.items():
        parser.add_argument(f"--{name}", type=kind, default=None, metavar="X", help=argparse.SUPPRESS)
    for name in REFUSED:
        parser.add_argument(f"--{name}", action=_Refused, nargs="?", help=argparse.SUPPRESS)


def engine_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """Those that were given, as the engine calls them."""
    found = {name.replace("-", "_"): None for name in ENGINE_FLAGS}
    given = {name: getattr(arguments, name) for name in found}
    return {name: value for name, value in given.items() if value is not None}
