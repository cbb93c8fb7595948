"""`headrace up`: one machine's installation from the first process to the last."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from stream.config.settings import Settings
from stream.errors import LogTimeout, StreamError
from stream.log.kafka.log import kafka_log
from stream.metrics.server import serve_metrics
from stream.process_context import ProcessContext
from stream.processes import Identity, identity_of
from stream.supervisor.broker_process import BrokerProcess
from stream.supervisor.commands import Commands, role_commands
from stream.supervisor.config_copy import copy_config
from stream.supervisor.lock import StateDirLock, state_dir_lock
from stream.supervisor.orphan_processes import end_leftovers
from stream.supervisor.process import RoleProcess
from stream.supervisor.restart import RestartPolicy
from stream.supervisor.runtime import Runtime, RuntimeFile, SupervisorEntry
from stream.supervisor.stop import StopWish
from stream.supervisor.supervisor import Supervisor, Unit
from stream.supervisor.tolerant_writer import TolerantWriter
from stream.topics import ensure_topics

log = logging.getLogger(__name__)

#: Dispatchers and workers finish what runs and commit it; what is unfinished then runs at the next start.
DRAIN_GRACE_S: Final = 60.0
BROKER_GRACE_S: Final = 20.0
#: A broker that does not answer its first question by then is told to be away.
ANSWER_S: Final = 10.0
SUPERVISOR_NAME: Final = "supervisor"


def prepare_topics(settings: Settings, place: ProcessContext) -> None:
    """Create and check the service's topics before a role meets them. StreamError names a broker that is silent."""
    admin = kafka_log(place).admin()
    try:
        admin.topics(ANSWER_S)
        ensure_topics(admin, settings)
    except LogTimeout as error:
        raise LogTimeout(f"no answer from the broker at {place.bootstrap_servers}: {error}") from error


def tell(line: str) -> None:
    """The one thing on stdout."""
    print(line, flush=True)  # noqa: T201


@dataclass(frozen=True, slots=True)
class UpDependencies:
    """What tests put in the place of the real thing."""

    commands: Commands = role_commands
    prepare: Callable[[Settings, ProcessContext], None] = prepare_topics
    policy: RestartPolicy = field(default_factory=RestartPolicy)
    tell: Callable[[str], None] = tell


def run_up(
    settings: Settings, config: Path | None, state_dir: Path, *, parts: UpDependencies | None = None
) -> int:
    """Run until a signal; the exit code. Main thread only.

    Prints `ready bootstrap=… state=…` once every process reports that it runs. Raises UsageError when the state
    directory is in use, StreamError when something does not come up (everything has been ended again by then).
    """
    state_dir = state_dir.absolute()
    # Whoever started us may ignore it, and then no child's end could be waited for.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    stop = StopWish()
    with state_dir_lock(state_dir) as lock, stop.listening():
        file = RuntimeFile(state_dir)
        end_predecessor(file.read(), lock)
        accept = copy_config(config, state_dir)
        server = serve_metrics(settings.metrics_port, next_free=False)
        try:
            up = Up(settings, state_dir, file, stop, parts or UpDependencies(), server.url, accept)

            def write(units: Sequence[Unit]) -> None:
                lock.touch()
                up.write(units)

            changed = TolerantWriter(write, time.monotonic)
            supervisor = Supervisor(server.metrics, changed, policy=up.parts.policy)
            server.ready_when(lambda: why_not_ready(supervisor.units))
            return up.run(supervisor)
        finally:
            server.close()


def end_predecessor(runtime: Runtime | None, lock: StateDirLock) -> None:
    """End what a killed supervisor left running, engine cores included."""
    recorded = (
        [Identity(entry.pid, entry.started, entry.birth) for entry in runtime.processes] if runtime else []
    )
    end_leftovers(recorded, lock.predecessor_alive_s)


class Up:
    """One run of `headrace up`."""

    def __init__(
        self,
        settings: Settings,
        state_dir: Path,
        file: RuntimeFile,
        stop: StopWish,
        parts: UpDependencies,
        metrics_url: str,
        accept: Callable[[], None],
    ) -> None:
        self.parts = parts
        #: The start is not refused: from now on its configuration is that of the state directory.
        self._accept = accept
        self._settings = settings
        self._state_dir = state_dir
        self._file = file
        self._stop = stop
        self._own_url = metrics_url
        self._servers = settings.kafka.bootstrap_servers if settings.kafka else None
        own = identity_of(os.getpid())
        self._self = SupervisorEntry(own.pid, own.started, birth=own.birth)

    def run(self, supervisor: Supervisor) -> int:
        """Start in order, watch, end in the reverse order. The exit code."""
        try:
            self._start(supervisor)
            if not self._stop.wished:
                self._is_doing(None, supervisor, ready=True)
                self.parts.tell(f"ready bootstrap={self._servers} state={self._state_dir}")
                supervisor.run_until(lambda: self._stop.wished or _nothing_left(supervisor))
            code = self._stop.exit_code if self._stop.wished else 1
            self._end(supervisor)
        except KeyboardInterrupt:
            log.warning("ending at once")
            return self._stop.exit_code
        finally:
            try:
                supervisor.kill()
            finally:
                TolerantWriter(self._leave, time.monotonic)(supervisor.units)
        return code

    def _start(self, supervisor: Supervisor) -> None:
        if self._settings.kafka is None:
            broker = BrokerProcess(self._state_dir, self._settings.broker_port)
            self._is_doing(broker.first_step, supervisor)
            supervisor.add([broker])
            self._until_running(supervisor)
            self._servers = broker.bootstrap_servers
        if self._stop.wished:
            return
        self._is_doing("checking the topics", supervisor)
        self.parts.prepare(self._settings, self._place())
        self._accept()
        self._is_doing("starting dispatcher and workers", supervisor)
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        supervisor.add(self._roles(environment))
        self._until_running(supervisor)

    def _is_doing(self, phase: str | None, supervisor: Supervisor, *, ready: bool = False) -> None:
        """Told to whoever reads the log, and in runtime.json to whoever waits for us."""
        if phase is not None:
            log.info("%s", phase)
        self._self = msgspec.structs.replace(self._self, phase=phase, ready=ready)
        TolerantWriter(self.write, time.monotonic)(supervisor.units)

    def _roles(self, environment: Mapping[str, str]) -> list[RoleProcess]:
        commands = self.parts.commands(self._settings, self._state_dir)
        return [
            RoleProcess(role.role, role.name, role.command, self._state_dir, environment) for role in commands
        ]

    def _until_running(self, supervisor: Supervisor) -> None:
        """StreamError when one of them is given up: an installation that is not whole must not look ready."""
        supervisor.run_until(
            lambda: self._stop.wished or bool(supervisor.failed()) or supervisor.all_running()
        )
        failed = supervisor.failed()
        if failed and not self._stop.wished:
            raise StreamError(
                "\n".join(
                    f"{unit.process.name} does not start: {unit.life.reason} "
                    f"(log: {self._state_dir / 'logs' / unit.process.name}.log)"
                    for unit in failed
                )
            )

    def _end(self, supervisor: Supervisor) -> None:
        supervisor.end(lambda role: role != "broker", DRAIN_GRACE_S)
        supervisor.end(lambda role: role == "broker", BROKER_GRACE_S)

    def _place(self) -> ProcessContext:
        assert self._servers is not None
        client = dict(self._settings.kafka.client) if self._settings.kafka else {}
        return ProcessContext(self._servers, self._state_dir, SUPERVISOR_NAME, client)

    def write(self, units: Sequence[Unit]) -> None:
        """Bring runtime.json up to date."""
        urls = {unit.process.name: unit.metrics_url for unit in units if unit.metrics_url is not None}
        entries = tuple(entry for unit in units if (entry := unit.entry()) is not None)
        self._file.write(
            Runtime(
                self._servers,
                metrics_urls={SUPERVISOR_NAME: self._own_url, **urls},
                processes=entries,
                supervisor=self._self,
            )
        )

    def _leave(self, units: Sequence[Unit]) -> None:
        """What could not be ended is left to the next start."""
        servers = self._settings.kafka.bootstrap_servers if self._settings.kafka else None
        left = tuple(entry for unit in units if (entry := unit.entry()) is not None)
        self._file.write(Runtime(servers, processes=left))


def why_not_ready(units: Sequence[Unit]) -> str | None:
    """For /readyz: None where every process runs, else what each of the others does."""
    others = [unit for unit in units if unit.life.state != "running"]
    told = [f"{unit.process.name} is {unit.life.state}" for unit in others]
    return "; ".join(told) or (None if units else "starting")


def _nothing_left(supervisor: Supervisor) -> bool:
    """Whether every dispatcher and worker has failed for good."""
    return all(unit.life.state == "failed" for unit in supervisor.units if unit.process.role != "broker")
