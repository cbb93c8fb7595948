"""A role that only lives and dies: `python -m … NAME STATE_DIR [BEHAVIOUR…]`."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from stream.process_context import ProcessContext
from stream.role.report import report


def main(name: str, state_dir: Path, *behaviour: str) -> int:
    place = ProcessContext("127.0.0.1:1", state_dir, name)
    if "fenced" in behaviour:
        report(place, "starting", reason="a twin has our transactional id")
        return 4
    if "broken" in behaviour:
        sys.stderr.write("no such model\n")
        return 1
    if "refused" in behaviour:
        sys.stderr.write("started\n")
        report(place, "draining", reason="the model folder /none does not exist", lasting=True)
        return 1
    if "slow" in behaviour:
        report(place, "starting", phase="loading weights")
        signal.pause()
    if "talkative" in behaviour:
        sys.stderr.write("all is well\n")
    if "engine" in behaviour:
        # Without an environment, as one that has set its title and so wiped it.
        engine = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], env={})
        (state_dir / "engine.pid").write_text(str(engine.pid))
    if "stubborn" in behaviour:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGUSR1, lambda *_: sys.exit(4))
    report(place, "running", f"http://127.0.0.1:1/{name}")
    time.sleep(600)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), *sys.argv[3:]))
