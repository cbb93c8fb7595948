"""Everything that `headrace status` tells, with names that scripts may rely on."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from schemas.lane import LANES
from stream.cli.open_transactions import held, served_topics
from stream.cli.overview.dead_letters import count_dead_letters
from stream.cli.overview.map_versions import map_versions
from stream.cli.overview.running import running_now
from stream.client.group_position import ASK_S, partitions_of
from stream.client.heartbeats import last_beats
from stream.client.installation import Installation
from stream.client.lanes import Key, LaneWork, lane_works, stranded, unrouted
from stream.processes.identity import Identity

Report = dict[str, Any]


def status_report(found: Installation, interval_s: float) -> Report:
    """Takes `interval_s` where there is work to do. LogTimeout when the broker does not answer.

    `held` is there only while a transaction is open: offsets by partition that no reader sees, and no lag counts.
    """
    log, settings = found.log("status"), found.settings
    topics = log.admin().topics(ASK_S)
    works = lane_works(log.admin(), settings, topics, interval_s)
    running = running_now(last_beats(log, settings, topics))
    versions = map_versions(log, settings, topics)
    hidden = held(log.admin(), partitions_of(topics, served_topics(settings, topics)))
    letters = count_dead_letters(log, settings, topics)
    return {
        "brokers": found.bootstrap_servers.split(","),
        "processes": processes(found.runtime),
        "endpoints": {name: _endpoint(name, works, running, versions[name]) for name in settings.endpoints},
        "dead_letters": letters.all,
        "dead_letters_open": letters.open,
        "version": version("headrace"),
        **(
            {"held": {f"{topic}/{number}": count for (topic, number), count in hidden.items()}}
            if hidden
            else {}
        ),
    }


def beside_lanes(found: Installation) -> list[str]:
    """What stands in no table, in words.

    Inputs that are not routed yet, work of endpoints that are not configured, workers that no supervisor here started.
    """
    log = found.log("status")
    admin = log.admin()
    topics = admin.topics(ASK_S)
    left = stranded(admin, found.settings, topics)
    here = {entry["name"] for entry in found.runtime.get("processes", ())}
    others = sorted({beat.worker for beat in last_beats(log, found.settings, topics)} - here)
    words = [f"input records not routed yet: {unrouted(admin, found.settings, topics)}"]
    words += [
        f"{lag} wait for the endpoint {name}, which is not in this configuration"
        for name, lag in left.items()
    ]
    return words + [f"{name} works too, started elsewhere" for name in others]


def processes(runtime: Mapping[str, Any]) -> list[Report]:
    """As runtime.json has them; `alive` says whether that very process is there (a killed supervisor leaves its file)."""
    return [{**entry, "alive": Identity.of_entry(entry).lives()} for entry in runtime.get("processes", ())]


def _endpoint(
    name: str, works: Mapping[Key, LaneWork], running: Mapping[Key, int], map_version: int
) -> Report:
    lanes = {str(lane): _lane(works[Key(name, lane)], running.get(Key(name, lane), 0)) for lane in LANES}
    return {"lanes": lanes, "map_version": map_version, "cache": {}}


def _lane(work: LaneWork, running: int) -> Report:
    eta_s = work.pace.eta_s(work.lag)
    return {
        "lag": work.lag,
        "running": running,
        # Nothing parks before there are quotas.
        "parked": 0,
        "rate_per_s": round(work.pace.rate_per_s, 3),
        "eta_s": None if eta_s is None else [round(eta_s[0], 1), round(eta_s[1], 1)],
    }
