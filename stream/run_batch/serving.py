"""The installation of a batch while it runs: one that lives, or one that is started for it and ended after it."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from stream.cli.options import find_installation
from stream.client.installation import Installation
from stream.run_batch.chosen import Chosen
from stream.run_batch.own_installation import UP_LOG, OwnInstallation
from stream.supervisor.stop import StopWish

#: StreamError where the batch's own installation has died, KeyboardInterrupt where somebody wants an end.
Watch = Callable[[], None]


@contextmanager
def serving(
    chosen: Chosen, stop: StopWish, say: Callable[[str], None]
) -> Iterator[tuple[Installation, Watch]]:
    """The installation, living, and what is to be asked again and again."""

    def wish() -> None:
        if stop.wished:
            raise KeyboardInterrupt

    if not chosen.own:
        yield chosen.installation, wish
        return
    state_dir = chosen.installation.state_dir
    say(f"starting an installation for this batch (log: {state_dir / UP_LOG})")
    begin_s = time.monotonic()
    own = OwnInstallation(chosen.config, state_dir)

    def watch() -> None:
        wish()
        own.check()

    try:
        own.wait_ready(say, lambda: stop.wished)
        say(f"ready after {time.monotonic() - begin_s:.1f} s")
        yield find_installation(argparse.Namespace(config=chosen.config, state_dir=state_dir)), watch
    finally:
        say("ending the installation of this batch")
        own.stop()
