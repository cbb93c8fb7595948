"""Who runs and who does not, in words. Pure: entries of runtime.json with what is alive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def who_runs(processes: Sequence[Mapping[str, Any]]) -> list[str]:
    """One line that sums up, then one for each process that does not run."""
    if not processes:
        return ["no process of `headrace up` runs on this machine"]
    works = [one for one in processes if one["alive"] and one["state"] == "running"]
    others = [one for one in processes if one not in works]
    if not others:
        return [f"all {len(processes)} processes run"]
    return [f"{len(works)} of {len(processes)} processes run", *map(_why_not, others)]


def _why_not(one: Mapping[str, Any]) -> str:
    name, state = one["name"], one["state"]
    if not one["alive"] and state not in {"failed", "restarting"}:
        return f"{name} is gone: nobody starts it again unless `headrace up` runs"
    doing = one.get("reason") or one.get("phase")
    return f"{name} is {state}: {doing}" if doing else f"{name} is {state}"


def is_dead(processes: Sequence[Mapping[str, Any]], *, supervised: bool) -> bool:
    """Something was started here and none of it is left; `supervised`: the supervisor itself lives."""
    return bool(processes) and not supervised and not any(one["alive"] for one in processes)
