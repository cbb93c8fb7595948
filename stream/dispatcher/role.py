"""The role `headrace dispatcher`: everything real around a Dispatcher."""

from __future__ import annotations

import gc
import time
from typing import Final

from stream.config.settings import Settings
from stream.dispatcher.dependencies import DispatcherDependencies
from stream.dispatcher.loop import Dispatcher
from stream.errors import StreamError
from stream.log.kafka.log import kafka_log
from stream.metrics.server import serve_metrics
from stream.process_context import ProcessContext
from stream.role.environment import fault_points, registry_of
from stream.role.readiness import Readiness
from stream.role.stop_signal import StopSignal
from stream.topics import dispatcher_needs, ensure_topics, refuse_missing_rights

EXIT_DONE: Final = 0
#: Net allocations before the youngest objects are searched for cycles: about one full transaction's.
GC_ALLOCATIONS: Final = 100_000


def run_dispatcher(
    settings: Settings, slot: int, place: ProcessContext, *, parts: DispatcherDependencies | None = None
) -> int:
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
    registry = registry_of(settings)
    saying = Readiness(place, server)
    try:
        _serve(
            settings,
            slot,
            DispatcherDependencies(
                log=kafka_log(place),
                clock_s=time.monotonic,
                now_ms=lambda: time.time_ns() // 1_000_000,
                registry=registry,
                metrics=server.metrics,
                reach=fault_points(),
                stopped=stop,
                report=saying.state,
            ),
        )
    except StreamError as error:
        saying.ends(error)
        raise
    finally:
        if registry is not None:
            registry.close()
        server.close()
    return stop.exit_code


def _serve(settings: Settings, slot: int, parts: DispatcherDependencies) -> None:
    parts.report("starting")
    admin = parts.log.admin()
    ensure_topics(admin, settings)
    refuse_missing_rights(admin, dispatcher_needs(settings, admin.topics(parts.rules.offsets_try_s)))
    Dispatcher(settings, slot, parts, admin).run()
