"""The role `headrace worker`: everything real around a worker, and its start and stop in the order of section 8."""

from __future__ import annotations

import contextlib
import gc
import logging
import random
import time
from collections.abc import Callable
from typing import Final

from stream.config.settings import Settings
from stream.errors import LogError, StreamError
from stream.log.base import Log
from stream.log.fence import twins_told_apart
from stream.log.kafka.log import kafka_log
from stream.metrics.server import serve_metrics
from stream.process_context import ProcessContext
from stream.role.environment import fault_points, registry_of
from stream.role.readiness import Readiness
from stream.role.stop_signal import StopSignal
from stream.topics import ensure_topics, refuse_missing_rights, worker_needs
from stream.worker.assembly import Sockets, build_worker, open_sockets
from stream.worker.death_mark_release import blames_no_record, take_back
from stream.worker.dependencies import WorkerDependencies
from stream.worker.loop import Loop, Steps
from workers.clock import SystemClock
from workers.endpoint import Endpoint
from workers.engines.choose import engine_for
from workers.errors import EngineStartError, WorkersError
from workers.journal import Journal, journal_path
from workers.retry_policy import RetryPolicy
from workers.runner import Runner

_LOG = logging.getLogger(__name__)

#: Net new containers until the cycle collector looks at the youngest: about all the records that may be open.
GC_ALLOCATIONS: Final = 200_000
ENGINE_DOWN: Final = "the engine died and is started again"


def run_worker(
    settings: Settings, endpoint_name: str, slot: int, place: ProcessContext, *, log: Log | None = None
) -> int:
    """Run until a signal; the exit code. StreamError ends it with its own (LogFenced: 4, another owns the slot).

    `log` is another than the real one at this place: one that breaks a rule, or a rival's.
    """
    endpoint = settings.endpoints[endpoint_name]
    stop = StopSignal()
    server = serve_metrics(settings.metrics_port)
    registry = registry_of(settings)
    saying = Readiness(place, server)
    try:
        journal = Journal(journal_path(place.state_dir, place.process_name))
        runner = _runner(endpoint, place, journal, saying.phase)
        server.ready_when(lambda: saying.why_not_ready() or (None if runner.engine_is_up else ENGINE_DOWN))
        real = WorkerDependencies(
            log=log or kafka_log(place, settings.outputs.compression),
            runner=runner,
            clock_s=time.monotonic,
            now_ms=SystemClock().now_ms,
            registry=registry,
            metrics=server.metrics,
            reach=fault_points(),
            stopped=stop,
            report=saying.state,
            journal=journal,
        )
        serve(settings, endpoint, slot, place.process_name, real)
    except (StreamError, WorkersError) as error:
        saying.ends(error)
        raise
    finally:
        if registry is not None:
            registry.close()
        server.close()
    return stop.exit_code


def serve(settings: Settings, endpoint: Endpoint, slot: int, name: str, parts: WorkerDependencies) -> None:
    """Start, run until stopped, drain, close. What it raises ends the process."""
    parts.report("starting")
    admin = parts.log.admin()
    ensure_topics(admin, settings)
    refuse_missing_rights(admin, worker_needs(settings, endpoint.name))
    sockets = open_sockets(settings, endpoint, slot, parts, admin)
    try:
        # The producer before everything that reads: it ends the predecessor's transaction, which `committed` waits for.
        sockets.producer.start(parts.rules.init_s)
        parts.runner.start(parts.rules.engine_start_s, parts.stopped)
        loop, steps = build_worker(settings, endpoint, name, parts, sockets)
        _live(loop, steps, sockets, parts)
    except EngineStartError:
        if not parts.stopped():
            raise
        _LOG.info("stopped while the engine was loading")
    finally:
        parts.runner.stop(0)
        sockets.plain.close()
        sockets.producer.close()


def _live(loop: Loop, steps: Steps, sockets: Sockets, parts: WorkerDependencies) -> None:
    """From the subscription to the last commit. After a crash nothing more is committed."""
    _spare_collector()
    try:
        with twins_told_apart(sockets.producer, sockets.consumer):
            _turn(loop, steps, sockets, parts)
    except BaseException as error:
        steps.assignment.crashed = True
        if blames_no_record(error):
            released = parts.journal.evidence.released
            take_back(steps.share.ledgers.values(), sockets.producer, sockets.consumer, released)
        with contextlib.suppress(LogError):  # what ended us is told, not what follows from it
            sockets.consumer.close()
        raise
    sockets.consumer.close()


def _turn(loop: Loop, steps: Steps, sockets: Sockets, parts: WorkerDependencies) -> None:
    sockets.consumer.subscribe(steps.topics, steps.assignment)
    running = False
    while not parts.stopped():
        loop.turn()
        if steps.share.joined and not running:
            running = True
            parts.report("running")
    parts.report("draining")
    loop.drain()


def _spare_collector() -> None:
    """Records die by reference count; the cycle collector would walk the open ones again and again for nothing."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_ALLOCATIONS, 10, 10)


def _runner(
    endpoint: Endpoint, place: ProcessContext, journal: Journal, phase: Callable[[str], None]
) -> Runner:
    return Runner(
        engine_for(endpoint, place.state_dir, phase),
        RetryPolicy.of(endpoint),
        SystemClock(),
        random.Random(),
        journal,
    )
