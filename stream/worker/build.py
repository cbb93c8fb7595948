"""A worker put together from its settings and parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from schemas.avro import AvroSchema
from schemas.decode import Decoder
from schemas.lane import LANES
from stream.commit.committer import Clients, Committer, Seams
from stream.commit.committer import Rules as CommitRules
from stream.commit.foreign import ForeignTargets
from stream.commit.selection import Caps
from stream.commit.targets import Targets
from stream.config.settings import Settings, slot_name
from stream.ledger.ledger import LedgerLimits
from stream.log.base import LogAdmin, LogConsumer, LogProducer, PlainProducer
from stream.worker.adoption import Orphans
from stream.worker.assignment import Assignment
from stream.worker.chores import ChoreClients, Chores
from stream.worker.finishing import Finishing
from stream.worker.flow import Flow
from stream.worker.hand_over import HandOver
from stream.worker.heartbeat import Heartbeat, heartbeat
from stream.worker.intake import Intake
from stream.worker.loop import Loop, Steps
from stream.worker.outputs import Destinations, OutputWriter
from stream.worker.parts import Parts
from stream.worker.share import Share
from stream.worker.tally import WorkerTally
from workers.endpoint import Endpoint


@dataclass(frozen=True, slots=True)
class Sockets:
    """The worker's clients, closed by who made them."""

    consumer: LogConsumer
    producer: LogProducer
    plain: PlainProducer
    admin: LogAdmin


def open_sockets(settings: Settings, endpoint: Endpoint, slot: int, parts: Parts) -> Sockets:
    """Transactional id and instance id are those of the slot: the next start fences the last one."""
    group = settings.worker_group(endpoint.name)
    name = slot_name(group, slot)
    return Sockets(
        parts.log.consumer(group, name),
        parts.log.producer(name),
        parts.log.plain_producer(),
        parts.log.admin(),
    )


def build_worker(
    settings: Settings, endpoint: Endpoint, name: str, parts: Parts, sockets: Sockets
) -> tuple[Loop, Steps]:
    """`name`: of the process, in heartbeats."""
    share = Share()
    orphans = Orphans(parts.runner.cancel, share.running, parts.rules.adopt_s)
    targets = Targets()
    targets.partitions_of.update(_own_partitions(settings, sockets.admin, parts))
    writer = OutputWriter(_destinations(settings, endpoint), targets, parts.now_ms, parts.clock_s)
    finishing = Finishing(share, writer, parts.clock_s, parts.reach)
    tally = WorkerTally(parts.metrics, endpoint.name)
    limits = LedgerLimits(settings.limits.open_records_max, settings.limits.span_offsets_max, endpoint.slots)
    committer = Committer(
        clients=Clients(sockets.producer, sockets.consumer),
        ledgers=share.ledgers,
        ready=share.ready,
        foreign=ForeignTargets(
            targets=targets, ready=share.ready, outputs=writer, admin=sockets.admin, clock=parts.clock_s
        ),
        rules=_commit_rules(settings),
        seams=Seams(parts.clock_s, parts.reach, parts.stage_of),
        tally=tally,
    )
    lane_of = {settings.work_topic(endpoint.name, lane): lane for lane in LANES}
    assignment = Assignment(
        share=share,
        orphans=orphans,
        committer=committer,
        consumer=sockets.consumer,
        admin=sockets.admin,
        limits=limits,
        rules=parts.rules,
        clock_s=parts.clock_s,
        metrics=parts.metrics,
    )
    flow = Flow(share, sockets.consumer, parts.rules, settings.limits.open_records_max)

    def beat() -> Heartbeat:
        return heartbeat(
            share,
            worker=name,
            endpoint=endpoint.name,
            slots=endpoint.slots,
            at_ms=parts.now_ms(),
            state="draining" if flow.stopped else "running",
            sources_max=parts.rules.heartbeat_sources_max,
        )

    def levels() -> None:
        tally.levels(share, len(targets.quarantined))
        tally.engine(parts.runner.outcomes, parts.runner.repeats)

    chores = Chores(
        share=share,
        clients=ChoreClients(sockets.consumer, sockets.admin, sockets.plain),
        limits=limits,
        rules=parts.rules,
        metrics=parts.metrics,
        workers_topic=settings.own_topic("workers"),
        beat=beat,
        levels=levels,
    )
    hand_over = HandOver(
        share=share,
        runner=parts.runner,
        committer=committer,
        finishing=finishing,
        decoder=_decoder(settings, parts),
        endpoint=endpoint,
        clock_s=parts.clock_s,
        stall_s=parts.rules.stall_s,
    )
    ordered = endpoint.order == "session"
    intake = Intake(share, sockets.consumer, orphans, finishing, lane_of, ordered=ordered)
    steps = Steps(
        list(lane_of),
        sockets.consumer,
        intake,
        hand_over,
        finishing,
        committer,
        flow,
        chores,
        share,
        orphans,
        assignment,
        tally,
    )
    return Loop(steps, parts), steps


def _commit_rules(settings: Settings) -> CommitRules:
    limits = settings.limits
    caps = Caps(limits.txn_records_max, limits.txn_bytes_max, limits.txn_partitions_max)
    return CommitRules(settings.commit_interval_ms / 1000, caps)


def _destinations(settings: Settings, endpoint: Endpoint) -> Destinations:
    return Destinations(
        results=settings.outputs.results,
        dead_letters=settings.outputs.dead_letters,
        usage=settings.own_topic("usage"),
        group=settings.worker_group(endpoint.name),
        dead_letter_bytes_max=settings.limits.dead_letter_bytes_max,
    )


def _own_partitions(settings: Settings, admin: LogAdmin, parts: Parts) -> dict[str, int]:
    own = (settings.outputs.results, settings.outputs.dead_letters, settings.own_topic("usage"))
    counts = admin.topics(parts.rules.init_s)
    return {topic: counts[topic] for topic in own if topic in counts}


def _decoder(settings: Settings, parts: Parts) -> Decoder:
    return Decoder(
        avro=list(_schemas(settings)),
        registry=parts.registry,
        value_bytes_max=settings.limits.value_bytes_max,
    )


def _schemas(settings: Settings) -> Iterator[AvroSchema]:
    for binding in settings.inputs:
        if binding.format == "avro" and binding.schema is not None:
            yield AvroSchema(Path(binding.schema).read_text(encoding="utf-8"))
