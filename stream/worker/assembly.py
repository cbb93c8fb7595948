"""A worker put together from its settings and parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from schemas.avro import AvroSchema
from schemas.decode import Decoder
from schemas.heartbeat import Heartbeat
from schemas.lane import LANES
from stream.config.settings import Settings, slot_name
from stream.exactly_once.committer import Clients, CommitPolicy, Committer, Seams
from stream.exactly_once.ledger import LedgerLimits
from stream.exactly_once.reply_topic_failures import ReplyTopicFailures
from stream.exactly_once.reply_topics import BATCH_BYTES_MAX, ReplyTopics
from stream.exactly_once.selection import Caps
from stream.exactly_once.transaction import Ledger
from stream.log.base import LogAdmin, LogConsumer, LogProducer, Partition
from stream.log.overtaken import Overtaken
from stream.log.plain import PlainProducer
from stream.worker.assignment import Assignment
from stream.worker.backpressure import Backpressure
from stream.worker.completion import Completion
from stream.worker.dependencies import WorkerDependencies
from stream.worker.heartbeat import heartbeat
from stream.worker.hot_sessions import HotSessionWatch
from stream.worker.in_flight import InFlightCalls
from stream.worker.intake import Intake
from stream.worker.loop import Loop, Steps
from stream.worker.outputs import Destinations, OutputWriter
from stream.worker.owned_partitions import OwnedPartitions
from stream.worker.periodic_tasks import PeriodicTasks, TaskClients
from stream.worker.scheduling import Scheduler
from stream.worker.single_file import SingleFile
from stream.worker.tally import WorkerTally
from workers.endpoint import Endpoint


@dataclass(frozen=True, slots=True)
class Sockets:
    """The worker's clients, closed by who made them."""

    consumer: LogConsumer
    producer: LogProducer
    plain: PlainProducer
    admin: LogAdmin


def open_sockets(
    settings: Settings, endpoint: Endpoint, slot: int, parts: WorkerDependencies, admin: LogAdmin
) -> Sockets:
    """Transactional id and instance id are those of the slot: the next start fences the last one."""
    group = settings.worker_group(endpoint.name)
    name = slot_name(group, slot)
    return Sockets(
        parts.log.consumer(group, name),
        parts.log.producer(name, batch_bytes_max=_batch_bytes_max(settings, admin, parts)),
        parts.log.plain_producer(),
        admin,
    )


def _batch_bytes_max(settings: Settings, admin: LogAdmin, parts: WorkerDependencies) -> int:
    """Not above what the smallest of our own topics takes: one answer too large fails its whole batch."""
    own = (settings.outputs.results, settings.outputs.dead_letters, settings.own_topic("usage"))
    found = admin.describe(own, parts.rules.init_s)
    limits = [
        int(t.settings.get("max.message.bytes", BATCH_BYTES_MAX)) for t in found.values() if t is not None
    ]
    return min([BATCH_BYTES_MAX, *limits])


def build_worker(
    settings: Settings, endpoint: Endpoint, name: str, parts: WorkerDependencies, sockets: Sockets
) -> tuple[Loop, Steps]:
    """`name`: of the process, in heartbeats."""
    steps = _Builder(settings, endpoint, name, parts, sockets).steps()
    return Loop(steps, parts), steps


class _Builder:
    """Each part once; those that others need come first."""

    def __init__(
        self, settings: Settings, endpoint: Endpoint, name: str, parts: WorkerDependencies, sockets: Sockets
    ) -> None:
        self._settings = settings
        self._endpoint = endpoint
        self._name = name
        self._parts = parts
        self._sockets = sockets
        self._share = OwnedPartitions(serial=endpoint.order == "serial")
        self._orphans = InFlightCalls(parts.runner.cancel, self._share.running, parts.rules.adopt_s)
        self._targets = ReplyTopics()
        self._targets.partitions_of.update(_own_partitions(settings, sockets.admin, parts))
        to = _destinations(settings, endpoint)
        self._writer = OutputWriter(to, self._targets, parts.now_ms, parts.clock_s)
        self._finishing = Completion(self._share, self._writer, parts.clock_s, parts.reach)
        self._tally = WorkerTally(parts.metrics, endpoint.name)
        self._hot = HotSessionWatch(endpoint.name, parts.metrics)
        bounds = settings.limits
        self._limits = LedgerLimits(bounds.open_records_max, bounds.span_offsets_max, endpoint.slots)
        self._committer = self._make_committer()
        self._single_file = self._make_single_file()
        rules, records_max = parts.rules, bounds.open_records_max
        self._flow = Backpressure(self._share, sockets.consumer, rules, records_max, self._single_file)

    def steps(self) -> Steps:
        lane_of = {self._settings.work_topic(self._endpoint.name, lane): lane for lane in LANES}
        return Steps(
            topics=list(lane_of),
            consumer=self._sockets.consumer,
            intake=Intake(
                self._share,
                self._sockets.consumer,
                self._orphans,
                self._finishing,
                lane_of,
                ordered=self._endpoint.order != "none",
                clock_s=self._parts.clock_s,
                again_s_max=self._parts.rules.quarantine_every_s,
                take_back=self._take_back,
                overtaken=self._overtaken(),
            ),
            hand_over=self._hand_over(),
            finishing=self._finishing,
            committer=self._committer,
            flow=self._flow,
            chores=self._chores(),
            share=self._share,
            orphans=self._orphans,
            assignment=self._assignment(),
            tally=self._tally,
        )

    def _make_committer(self) -> Committer:
        return Committer(
            clients=Clients(self._sockets.producer, self._sockets.consumer),
            ledgers=self._share.ledgers,
            ready=self._share.ready,
            foreign=ReplyTopicFailures(
                targets=self._targets,
                ready=self._share.ready,
                outputs=self._writer,
                admin=self._sockets.admin,
                clock=self._parts.clock_s,
            ),
            rules=_commit_rules(self._settings),
            seams=Seams(self._parts.clock_s, self._parts.reach, self._parts.stage_of),
            tally=self._tally,
        )

    def _make_single_file(self) -> SingleFile:
        return SingleFile(
            share=self._share,
            runner=self._parts.runner,
            committer=self._committer,
            journal=self._parts.journal,
            poison_deaths_max=self._endpoint.poison_deaths_max,
            clock_s=self._parts.clock_s,
            rules=self._parts.rules,
        )

    def _take_back(self, ledger: Ledger) -> None:
        """A clean end of one partition: this process's death mark, and what ran alone in it."""
        if ledger.marked:
            ran_alone = ledger.trying is not None
            ledger.unmark()
            if self._committer.progress_only() and ran_alone:
                self._parts.journal.evidence.unnamed()

    def _assignment(self) -> Assignment:
        return Assignment(
            share=self._share,
            orphans=self._orphans,
            committer=self._committer,
            consumer=self._sockets.consumer,
            admin=self._sockets.admin,
            limits=self._limits,
            rules=self._parts.rules,
            clock_s=self._parts.clock_s,
            metrics=self._parts.metrics,
            evidence=self._parts.journal.evidence,
        )

    def _overtaken(self) -> Overtaken:
        def count(partition: Partition, offsets: int) -> None:
            self._parts.metrics.count("headrace_gap_records_total", offsets, topic=partition.topic)

        return Overtaken(self._sockets.consumer, self._share.next_of, count, self._parts.clock_s)

    def _hand_over(self) -> Scheduler:
        return Scheduler(
            share=self._share,
            runner=self._parts.runner,
            committer=self._committer,
            finishing=self._finishing,
            decoder=_decoder(self._settings, self._parts),
            endpoint=self._endpoint,
            single_file=self._single_file,
            journal=self._parts.journal,
            clock_s=self._parts.clock_s,
            rules=self._parts.rules,
        )

    def _chores(self) -> PeriodicTasks:
        return PeriodicTasks(
            share=self._share,
            clients=TaskClients(self._sockets.consumer, self._sockets.admin, self._sockets.plain),
            limits=self._limits,
            rules=self._parts.rules,
            clock_s=self._parts.clock_s,
            metrics=self._parts.metrics,
            workers_topic=self._settings.own_topic("workers"),
            beat=self._beat,
            levels=self._levels,
            hot=lambda: self._hot.look(self._share.ledgers.values(), self._parts.clock_s()),
        )

    def _beat(self) -> Heartbeat:
        return heartbeat(
            self._share,
            worker=self._name,
            endpoint=self._endpoint.name,
            slots=self._endpoint.slots,
            at_ms=self._parts.now_ms(),
            state="draining" if self._flow.stopped else "running",
            sources_max=self._parts.rules.heartbeat_sources_max,
        )

    def _levels(self) -> None:
        self._tally.levels(self._share, len(self._targets.quarantined))
        runner = self._parts.runner
        self._tally.engine(runner.outcomes, runner.repeats, runner.restarts)


def _commit_rules(settings: Settings) -> CommitPolicy:
    limits = settings.limits
    caps = Caps(limits.txn_records_max, limits.txn_bytes_max, limits.txn_partitions_max)
    return CommitPolicy(settings.commit_interval_ms / 1000, caps)


def _destinations(settings: Settings, endpoint: Endpoint) -> Destinations:
    return Destinations(
        results=settings.outputs.results,
        dead_letters=settings.outputs.dead_letters,
        usage=settings.own_topic("usage"),
        group=settings.worker_group(endpoint.name),
        dead_letter_bytes_max=settings.limits.dead_letter_bytes_max,
    )


def _own_partitions(settings: Settings, admin: LogAdmin, parts: WorkerDependencies) -> dict[str, int]:
    own = (settings.outputs.results, settings.outputs.dead_letters, settings.own_topic("usage"))
    counts = admin.topics(parts.rules.init_s)
    return {topic: counts[topic] for topic in own if topic in counts}


def _decoder(settings: Settings, parts: WorkerDependencies) -> Decoder:
    return Decoder(
        avro=list(_schemas(settings)),
        registry=parts.registry,
        value_bytes_max=settings.limits.value_bytes_max,
    )


def _schemas(settings: Settings) -> Iterator[AvroSchema]:
    for binding in settings.inputs:
        if binding.format == "avro" and binding.schema is not None:
            yield AvroSchema(Path(binding.schema).read_text(encoding="utf-8"))
