"""`headrace status`: processes, lanes, lag and time left."""

from __future__ import annotations

import argparse
import json
from typing import Any, Final

from stream.cli.installation import find_installation
from stream.cli.options import installation_options, json_option, seconds
from stream.cli.overview.pace import duration
from stream.cli.overview.report import Report, beside_lanes, status_report
from stream.cli.parser import Commands
from stream.cli.tables import print_table, table

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
    report = status_report(found, arguments.interval)
    if arguments.json:
        print(json.dumps(report, indent=2))
    else:
        _show(report)
        print("\n".join(beside_lanes(found)))
    return 0


def _show(report: Report) -> None:
    print(
        f"headrace {report['version']} on {', '.join(report['brokers'])}; {report['dead_letters']} dead letters"
    )
    if report["processes"]:
        processes = table("Processes", "name", "state", "pid", "why")
        for one in report["processes"]:
            state = one["state"] if one["alive"] else f"{one['state']} (gone)"
            processes.add_row(one["name"], state, str(one["pid"]), one.get("reason") or "")
        print_table(processes)
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
