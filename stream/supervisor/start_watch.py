"""What an installation does until it is ready, as its runtime.json tells it: lines for whoever waits."""

from __future__ import annotations

from stream.supervisor.runtime import ProcessEntry, Runtime


class StartWatch:
    """Pure but for its memory: documents and times in, words out."""

    def __init__(self, begun_s: float) -> None:
        self._begun_s = begun_s
        #: By name: what was told last, and since when.
        self._told: dict[str, tuple[str, float]] = {}

    def look(self, runtime: Runtime | None, now_s: float) -> list[str]:
        """A line for each that does something else than at the last look, with the seconds since the start."""
        new = {name: words for name, words in doing(runtime).items() if self._last(name) != words}
        self._told |= {name: (words, now_s) for name, words in new.items()}
        return [f"{now_s - self._begun_s:5.1f} s  {_line(name, words)}" for name, words in new.items()]

    def going_on(self, runtime: Runtime | None, now_s: float) -> str:
        """What is not done yet, with how long it has taken."""
        named = [
            f"{_line(name, words)}, {now_s - self._told.get(name, (words, now_s))[1]:.0f} s"
            for name, words in doing(runtime).items()
            if words != "running"
        ]
        return "; ".join(named) or "starting"

    def _last(self, name: str) -> str | None:
        return self._told[name][0] if name in self._told else None


def doing(runtime: Runtime | None) -> dict[str, str]:
    """What each process does; the supervisor under the empty name, while it does something itself."""
    if runtime is None or runtime.supervisor is None:
        return {}
    own = {"": runtime.supervisor.phase} if runtime.supervisor.phase and not runtime.processes else {}
    return {**own, **{entry.name: _words(entry) for entry in runtime.processes}}


def _words(entry: ProcessEntry) -> str:
    if entry.state == "starting":
        return entry.phase or "connecting to Kafka"
    return f"{entry.state} ({entry.reason})" if entry.reason else entry.state


def _line(name: str, words: str) -> str:
    return f"{name}: {words}" if name else words
