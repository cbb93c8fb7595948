"""`python -m tests.chaos.broken.worker HOW --endpoint X --slot N -c FILE --state-dir DIR`: a real worker, one rule broken."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from typing import Final

from stream.cli.logs import log_to_stderr
from stream.cli.options import find_installation, installation_options
from stream.config.settings import Settings
from stream.errors import StreamError
from stream.worker.role import run_worker
from tests.chaos.broken.logs import broken_log
from workers.endpoint import OrderName

#: How a worker breaks the order of its endpoint -> the order that it keeps instead.
ORDERS: Final[dict[str, OrderName]] = {"publish_at_once": "none", "run_at_once": "session"}


def out_of_order(settings: Settings, endpoint: str, order: OrderName) -> Settings:
    """The endpoint is configured otherwise."""
    endpoints = {**settings.endpoints, endpoint: replace(settings.endpoints[endpoint], order=order)}
    return replace(settings, endpoints=endpoints)


def main() -> int:
    parser = argparse.ArgumentParser(parents=[installation_options()])
    parser.add_argument("how")
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--slot", type=int, required=True)
    arguments = parser.parse_args()
    log_to_stderr()
    found = find_installation(arguments)
    settings, log = found.settings, None
    if arguments.how in ORDERS:
        settings = out_of_order(settings, arguments.endpoint, ORDERS[arguments.how])
    name, slot = arguments.endpoint, arguments.slot
    place = found.place(f"worker-{name}-{slot:02d}")
    if arguments.how not in ORDERS:
        log = broken_log(arguments.how, place)
    try:
        return run_worker(settings, name, slot, place, log=log)
    except StreamError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
