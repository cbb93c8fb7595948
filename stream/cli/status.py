"""`headrace status`: processes, lanes, lag and time left."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Final

from stream.cli.options import find_installation, installation_options, json_option, seconds
from stream.cli.overview.report import Report, beside_lanes, processes, status_report
from stream.cli.overview.who_runs import is_dead, who_runs
from stream.cli.parser import Commands
from stream.cli.tables import print_table, table
from stream.client.eta import duration
from stream.client.installation import Installation
from stream.errors import StreamError
from stream.processes.identity import Identity

INTERVAL_S: Final = 2.0


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "status",
        parents=[installation_options(), json_option()],
        description="Processes, and each lane's lag, rate and time left.",
    )
    text = f"how long the rate is measured, in seconds (default {INTERVAL_S:g})"
    parser.add_argument("--interval", type=seconds, default=INTERVAL_S, metavar="S", help=text)


def run(arguments: argparse.Namespace) -> int:
    found = find_installation(arguments)
    _refuse_dead(found)
    if arguments.json:
        print(json.dumps(status_report(found, arguments.interval), indent=2))
        return 0
    print(f"headrace {version('headrace')} on {found.bootstrap_servers}", flush=True)
    # Before the broker is asked anything: where it is silent, this is what there is to see.
    here = processes(found.runtime)
    _show_processes(here)
    print("\n".join(who_runs(here)), flush=True)
    report = status_report(found, arguments.interval)
    _show_lanes(report)
    letters = f"{report['dead_letters']} dead letters, {report['dead_letters_open']} open"
    print("\n".join([*beside_lanes(found), letters, *_held_lines(report)]))
    return 0


def _refuse_dead(found: Installation) -> None:
    """StreamError in one line where the installation does not run: it has a broker of its own, and that is gone."""
    if found.settings.kafka is not None:
        return
    how = f"start it with `headrace up --state-dir {found.state_dir}`, or name another with --state-dir DIR or -c FILE"
    entry = found.runtime.get("supervisor") or {}
    supervised = bool(entry) and Identity.of_entry(entry).lives()
    if supervised and not found.has_broker:
        raise StreamError(f"it starts: {entry.get('phase') or 'it has no broker yet'}")
    if not found.has_broker or is_dead(processes(found.runtime), supervised=supervised):
        raise StreamError(f"nothing runs in {found.state_dir}: {how}")


def _held_lines(report: Report) -> list[str]:
    if "held" not in report:
        return []
    named = ", ".join(f"{place}: {count}" for place, count in report["held"].items())
    return [f"behind open transactions (one of ours is open for less than a second), in no lag: {named}"]


def _show_processes(found: Sequence[Report]) -> None:
    if not found:
        return
    rows = table("Processes", "name", "state", "pid", "does, or why not")
    for one in found:
        state = one["state"] if one["alive"] else f"{one['state']} (gone)"
        rows.add_row(one["name"], state, str(one["pid"]), one.get("reason") or one.get("phase") or "")
    print_table(rows)


def _show_lanes(report: Report) -> None:
    lanes = table("Lanes", "endpoint", "lane", "lag", "running", "records/s", "time left")
    for endpoint, told in report["endpoints"].items():
        for lane, work in told["lanes"].items():
            numbers = (str(work["lag"]), str(work["running"]), f"{work['rate_per_s']:.1f}", _time_left(work))
            lanes.add_row(endpoint, lane, *numbers)
    print_table(lanes)


def _time_left(work: dict[str, Any]) -> str:
    """`3 min to 5 min`, `-` where there is nothing to do, `?` while nothing moves."""
    if not work["lag"]:
        return "-"
    if work["eta_s"] is None:
        return "?"
    low, high = (duration(seconds) for seconds in work["eta_s"])
    return low if low == high else f"{low} to {high}"
