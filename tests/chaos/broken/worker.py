"""`python -m tests.chaos.broken.worker HOW --endpoint X --slot N -c FILE --state-dir DIR`: a real worker, one rule broken."""

from __future__ import annotations

import argparse
import sys

from stream.cli.installation import find_installation
from stream.cli.logs import log_to_stderr
from stream.cli.options import installation_options
from stream.errors import StreamError
from stream.worker.run import run_worker
from tests.chaos.broken.logs import broken_log


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
    try:
        return run_worker(found.settings, name, slot, place, log=broken_log(arguments.how, place))
    except StreamError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
