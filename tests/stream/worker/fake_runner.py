"""A runner without threads: the test says when a call ends, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from schemas.failure import Failure
from schemas.source import Source
from workers.attempts import write_down
from workers.call import Call, Finished
from workers.engines.base import Answer, Tokens
from workers.journal import NoJournal, StartJournal


class Runs:
    """When each run of any process began and ended, as counts; a run's number stands in its answer."""

    def __init__(self) -> None:
        self.now = 0
        self.began: dict[int, int] = {}
        self.ended: dict[int, int] = {}

    def begin(self) -> int:
        self.now += 1
        self.began[self.now] = self.now
        return self.now

    def end(self, run: int) -> None:
        self.now += 1
        self.ended[run] = self.now


def answer_to(call: Call, run: int) -> Answer:
    return Answer({"choices": [], "echo": call.request.custom_id, "run": run}, Tokens(3, 2, 0), 0.0)


class FakeRunner:
    """An `EngineSide`. With `auto`, calls end at once."""

    def __init__(
        self,
        *,
        auto: bool = True,
        passes: Callable[[float], None] = lambda _seconds: None,
        runs: Runs | None = None,
        journal: StartJournal | None = None,
    ) -> None:
        self.auto = auto
        self._runs = Runs() if runs is None else runs
        self._journal = journal or NoJournal()
        self._run_of: dict[str, int] = {}
        #: Told how long somebody waited.
        self._passes = passes
        #: Sources in the order in which they were started.
        self.started: list[Source] = []
        self.cancelled: list[str] = []
        self.inside: dict[str, Call] = {}
        self._ended: list[Finished] = []
        self.stopped = False
        #: Calls that may be handed over beyond the slots.
        self.ahead = 0

    def start(self, timeout_s: float, give_up: Callable[[], bool] = lambda: False) -> None:
        """Nothing to load."""

    def submit(self, calls: Sequence[Call]) -> None:
        for call in calls:
            assert call.id not in self.inside
            write_down(self._journal, [call], [])
            self.inside[call.id] = call
            self._run_of[call.id] = self._runs.begin()
            self.started.append(call.source)
            if self.auto:
                self.end(call.source)

    def end(self, source: Source, outcome: Answer | Failure | None = None) -> None:
        """The call of this source ends."""
        call = next(call for call in self.inside.values() if call.source == source)
        del self.inside[call.id]
        if call.named:
            self._journal.evidence.ended(source)
        run = self._run_of.pop(call.id)
        self._runs.end(run)
        outcome = answer_to(call, run) if outcome is None else outcome
        tokens = outcome.tokens if isinstance(outcome, Answer) else Tokens(3, 0, 0)
        of = call.request
        ended = (call.id, of.custom_id, outcome, 1, tokens, 1_000, 1_000, 1_001, of.ignored, of.ignored_count)
        self._ended.append(Finished(*ended))

    def run_of(self, call: Call) -> int:
        """The number of a call's run."""
        return self._run_of[call.id]

    def end_all(self) -> None:
        for call in list(self.inside.values()):
            self.end(call.source)

    def take(self) -> list[Finished]:
        taken, self._ended = self._ended, []
        return taken

    def wait(self, timeout_s: float) -> bool:
        self._passes(max(timeout_s, 0.001))
        return bool(self._ended)

    def cancel(self, ids: Sequence[str]) -> None:
        self.cancelled += ids
        for call_id in ids:
            self.inside.pop(call_id, None)

    def check(self) -> None:
        """It never crashes."""

    def stop(self, grace_s: float) -> None:
        self.stopped = True

    @property
    def running(self) -> int:
        return len(self.inside)

    @property
    def outcomes(self) -> Mapping[str, int]:
        return {"answered": len(self.started)}

    @property
    def repeats(self) -> int:
        return 0

    @property
    def restarts(self) -> int:
        return 0
