"""The settings of a vLLM engine as plain values: from an endpoint, as arguments of a command line, as environment.

One function makes them for our engine and for whoever compares with it (`vllm run-batch`, `vllm serve`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from workers.endpoint import Endpoint
from workers.engines.machine import Machine

#: KV cache of a CPU engine unless the options say more: 46,600 tokens of SmolLM2 in bfloat16. Without a figure vLLM
#: would take 92 % of the machine.
KV_CACHE_BYTES: Final = 1024**3
#: Tokens in a KV block on a CPU: its kernel wants multiples of 32, and a larger one would never hit short prompts.
KV_BLOCK_TOKENS: Final = 32
#: Turns an OpenMP thread spins for its neighbours before it sleeps. It spins without end by default, which on cores that
#: a broker and a dispatcher share made a small product 2-4 times slower; alone, 20,000 cost nothing and 5,000 a factor of two.
OMP_SPINS: Final = 20_000
#: As `workers.structured` compiles too: an engine has one backend for all its requests. JSON is written without blanks:
#: fewer tokens, and a small model cannot fill max_tokens with them.
STRUCTURED_OUTPUTS: Final[Mapping[str, Any]] = {"backend": "xgrammar", "disable_any_whitespace": True}


def engine_args(endpoint: Endpoint, folder: str, machine: Machine | None = None) -> dict[str, Any]:
    """Keyword arguments of vLLM's `AsyncEngineArgs`. The endpoint's options win over every default."""
    machine = Machine.here() if machine is None else machine
    args: dict[str, Any] = {
        "model": folder,
        "served_model_name": [endpoint.name],
        "max_num_seqs": endpoint.slots,
        "disable_log_stats": True,
    }
    if is_embedder(endpoint, folder):
        args |= {"runner": "pooling", "convert": "embed"}
    else:
        args |= {
            "scheduling_policy": "priority",
            "structured_outputs_config": dict(STRUCTURED_OUTPUTS),
        }
        if endpoint.reasoning_parser is not None:
            args["reasoning_parser"] = endpoint.reasoning_parser
    if machine.cpu:
        args |= {
            "dtype": "bfloat16" if machine.bfloat16 and not is_embedder(endpoint, folder) else "float32",
            "kv_cache_memory_bytes": KV_CACHE_BYTES,
            "block_size": KV_BLOCK_TOKENS,
            "enforce_eager": True,
        }
    return args | dict(endpoint.options)


def is_embedder(endpoint: Endpoint, folder: str) -> bool:
    """Whether the model makes embeddings: by option `runner`, else as sentence-transformers marks its folders."""
    runner = endpoint.options.get("runner")
    return runner == "pooling" if runner is not None else (Path(folder) / "modules.json").is_file()


def engine_environment(folder: str, machine: Machine | None = None) -> dict[str, str]:
    """Environment variables that the engine's processes need; those that are set already are left alone."""
    machine = Machine.here() if machine is None else machine
    variables = {
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_LOGGING_STREAM": "ext://sys.stderr",
        "VLLM_LOGGING_LEVEL": "WARNING",
    }
    if Path(folder).is_dir():
        variables["HF_HUB_OFFLINE"] = "1"
    if machine.cpu:
        # All cores, none reserved; and no process of its own for the one worker: it starts in half the time.
        variables |= {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
        variables["GOMP_SPINCOUNT"] = str(OMP_SPINS)
    return variables


def cli_args(args: Mapping[str, Any]) -> list[str]:
    """`engine_args` as arguments for `vllm run-batch` or `vllm serve`."""
    words: list[str] = []
    for name, value in args.items():
        option = "--" + name.replace("_", "-")
        if isinstance(value, bool):
            words.append(option if value else option.replace("--", "--no-", 1))
        elif isinstance(value, (dict, Mapping)):
            words += [option, json.dumps(value)]
        elif isinstance(value, (list, tuple)):
            words += [option, *map(str, value)]
        else:
            words += [option, str(value)]
    return words
