"""`python -m tests.chaos.broken.worker HOW --endpoint X --slot N -c FILE --state-dir DIR`: a real worker, one rule broken."""

from __future__ import annotations

import argparse
import os
import random
import sys
import time

from stream.cli.installation import find_installation
from stream.cli.logs import log_to_stderr
from stream.cli.options import installation_options
from stream.errors import StreamError
from stream.fault_points import VARIABLE, FaultPoints
from stream.place import Place
from stream.role.stop_signal import StopSignal
from stream.worker.parts import Parts
from stream.worker.run import run_worker
from tests.chaos.broken.logs import broken_log
from workers.clock import SystemClock
from workers.endpoint import Endpoint
from workers.engines.choose import engine_for
from workers.journal import Journal, journal_path
from workers.rules import Rules
from workers.runner import Runner


def main() -> int:
    parser = argparse.ArgumentParser(parents=[installation_options()])
    parser.add_argument("how")
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--slot", type=int, required=True)
    arguments = parser.parse_args()
    log_to_stderr()
    found = find_installation(arguments)
    name, slot = arguments.endpoint, arguments.slot
    place = found.place(f"worker-{name}-{slot:02d}")
    parts = broken_parts(arguments.how, found.settings.endpoints[name], place)
    try:
        return run_worker(found.settings, name, slot, place, parts=parts)
    except StreamError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code


def broken_parts(how: str, endpoint: Endpoint, place: Place) -> Parts:
    """Everything as in production, but the log."""
    clock = SystemClock()
    journal = Journal(journal_path(place.state_dir, place.process_name))
    return Parts(
        log=broken_log(how, place),
        runner=Runner(
            engine_for(endpoint, place.state_dir), Rules.of(endpoint), clock, random.Random(), journal
        ),
        clock_s=time.monotonic,
        now_ms=clock.now_ms,
        reach=FaultPoints.parse(os.environ.get(VARIABLE, "")).reach,
        stopped=StopSignal(),
    )


if __name__ == "__main__":
    sys.exit(main())
