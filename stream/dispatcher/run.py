"""The role `headrace dispatcher`: everything real around a Dispatcher."""

from __future__ import annotations

import gc
import os
import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Final

from schemas.registry import Registry
from schemas.registry_client import RegistryClient
from stream.config.settings import Settings
from stream.dispatcher.asking import AskingRegistry
from stream.dispatcher.loop import Dispatcher
from stream.dispatcher.parts import Parts
from stream.errors import StreamError
from stream.fault_points import VARIABLE, FaultPoints
from stream.log.base import nowhere
from stream.log.kafka import kafka_log
from stream.metrics.server import serve_metrics
from stream.place import Place
from stream.supervisor.report import RoleState, report
from stream.topics import ensure_topics

EXIT_DONE: Final = 0
EXIT_SIGINT: Final = 130
#: Net allocations before the youngest objects are searched for cycles: about one full transaction's.
GC_ALLOCATIONS: Final = 100_000


class StopSignal:
    """SIGTERM or SIGINT asks for a clean end; a second one of its kind ends at once."""

    def __init__(self) -> None:
        self.received: int | None = None
        self._before = {
            number: signal.signal(number, self._note) for number in (signal.SIGTERM, signal.SIGINT)
        }

    def __call__(self) -> bool:
        return self.received is not None

    @property
    def exit_code(self) -> int:
        return EXIT_SIGINT if self.received == signal.SIGINT else EXIT_DONE

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.received = number
        signal.signal(number, self._before[signal.Signals(number)])


def run_dispatcher(settings: Settings, slot: int, place: Place, *, parts: Parts | None = None) -> int:
    """Run until a signal; the exit code. StreamError ends it with its own (LogFenced: 4, another owns the slot).

    With `parts`, everything around it is the caller's: signals, metrics and reports too.
    """
    if parts is not None:
        _serve(settings, slot, parts)
        return EXIT_DONE
    # What was imported stays; what comes with records goes with them, without cycles: look for those seldom.
    gc.freeze()
    gc.set_threshold(GC_ALLOCATIONS, 20, 20)
    stop = StopSignal()
    server = serve_metrics(settings.metrics_port)
    registry = _registry(settings)

    def say(state: RoleState) -> None:
        report(place, state, server.url)

    try:
        _serve(
            settings,
            slot,
            Parts(
                log=kafka_log(place),
                clock_s=time.monotonic,
                now_ms=lambda: time.time_ns() // 1_000_000,
                registry=registry,
                metrics=server.metrics,
                reach=_reach(),
                stopped=stop,
                report=say,
            ),
        )
    except StreamError as error:
        report(place, "draining", server.url, reason=str(error))
        raise
    finally:
        if registry is not None:
            registry.close()
        server.close()
    return stop.exit_code


def _serve(settings: Settings, slot: int, parts: Parts) -> None:
    parts.report("starting")
    admin = parts.log.admin()
    ensure_topics(admin, settings)
    Dispatcher(settings, slot, parts, admin).run()


def _registry(settings: Settings) -> AskingRegistry | None:
    if settings.registry_url is None:
        return None
    client = RegistryClient(settings.registry_url, time.monotonic)
    return AskingRegistry(Registry(client, time.monotonic))


def _reach() -> Callable[[str], None]:
    text = os.environ.get(VARIABLE, "")
    return FaultPoints.parse(text).reach if text else nowhere
