"""`python -m benchmarks NAME`: run one benchmark and print its figures."""

from __future__ import annotations

import importlib
import signal
import sys

#: name -> (module, what it measures)
BENCHMARKS = {
    "dispatcher": (
        "benchmarks.dispatcher",
        "records/s of the dispatcher against a raw transactional copy loop",
    ),
    "two-hops": (
        "benchmarks.two_hops",
        "records/s of dispatcher and worker, zero-cost engine, against the copy loop",
    ),
    "tokens": ("benchmarks.tokens", "output tokens/s against vllm run-batch and a plain consumer loop"),
    "transactions": ("benchmarks.transactions", "the worker against itself at least once"),
    "latency": ("benchmarks.latency", "what an idle installation adds to an interactive answer"),
    "keyed": ("benchmarks.keyed", "wall time of records of three keys against records without keys"),
    "memory": ("benchmarks.memory", "resident memory over a million records"),
}


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] not in BENCHMARKS:
        for name, (_, meaning) in BENCHMARKS.items():
            print(f"{name:<14} {meaning}")
        return 2 if arguments else 0
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(1)
    )  # the roles and brokers that were started end with us
    module = importlib.import_module(BENCHMARKS[arguments[0]][0])
    return int(module.main(arguments[1:]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
