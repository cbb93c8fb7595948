"""The worker's own bounds, each with its unit."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """Defaults are for production; tests shorten waits."""

    #: Records of one poll at most.
    poll_records_max: int = 500
    #: A poll with nothing running waits so long: what a stop signal may have to wait.
    poll_s: float = 0.1
    #: While calls run, new records are looked for so often; an answer wakes at once.
    look_s: float = 0.004
    #: … and so often while every slot is taken: each look costs the engine, and nothing could start.
    full_look_s: float = 0.02
    #: Within a turn the next answer is waited for so long.
    brief_s: float = 0.0005
    #: A turn hands over and takes back for so long before it polls again.
    turn_s: float = 0.01
    #: An engine without work for so long: what is ready is committed, for it gains nothing by waiting for more.
    rest_s: float = 0.05
    #: Fewer are committed so once an interval only: each would pay for a transaction of its own.
    rest_records_min: int = 100
    #: A partition with less room than this is paused …
    pause_room: int = 64
    #: … and all are, while the values of open records hold so many bytes.
    open_bytes_max: int = 256 * MIB
    #: In single file little is read ahead, for a process that dies of it would convict the record that runs: all are
    #: paused while so many records that may start wait, or the values of open records hold so many bytes …
    single_file_ahead_records_max: int = 8
    single_file_ahead_bytes_max: int = 16 * MIB
    #: Nothing more is handed over while answers of so many bytes wait for Kafka to take them.
    ready_bytes_max: int = 256 * MIB
    #: `init_transactions` waits for a predecessor's open transaction to end.
    init_s: float = 60.0
    #: Loading a model.
    engine_start_s: float = 900.0
    #: Reading committed offsets waits for a predecessor's transaction too: 30 s and more.
    offsets_s: float = 90.0
    #: The final commit of a revoke.
    revoke_s: float = 5.0
    #: Running calls and answers of a revoked partition are kept for adoption so long.
    adopt_s: float = 10.0
    #: A stop lets running calls end for so long.
    drain_s: float = 40.0
    #: Cancelled calls may need so long to leave the engine.
    stop_s: float = 1.0
    #: A partition whose records need a registry that does not answer waits, and tries again.
    stall_s: float = 0.5
    heartbeat_s: float = 1.0
    lag_every_s: float = 10.0
    trim_every_s: float = 60.0
    #: What the client cannot read on is looked at so often: the longer it lasts, the less often it is tried.
    stuck_every_s: float = 1.0
    #: The group's coordinator is asked so often, at rest too: a client that has lost it must be noticed.
    coordinator_every_s: float = 60.0
    #: Quarantined partitions are looked at again, for an operator's reset.
    quarantine_every_s: float = 10.0
    #: Bound of one call of those chores.
    chore_timeout_s: float = 5.0
    #: Running sources named in a heartbeat.
    heartbeat_sources_max: int = 256
