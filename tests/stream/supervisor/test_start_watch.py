"""What is told of a start while somebody waits for it."""

from __future__ import annotations

from stream.supervisor.detached import last_words
from stream.supervisor.restart import ProcessState
from stream.supervisor.runtime import ProcessEntry, Runtime, SupervisorEntry
from stream.supervisor.start_watch import StartWatch


def runtime(phase: str | None, *processes: ProcessEntry) -> Runtime:
    return Runtime(None, processes=processes, supervisor=SupervisorEntry(1, 1.0, phase=phase))


def worker(state: ProcessState, phase: str | None = None, reason: str | None = None) -> ProcessEntry:
    return ProcessEntry("worker", "worker-sim-00", 2, 1.0, state, reason, phase)


def test_each_step_is_told_once_with_the_seconds_since_the_start() -> None:
    watch = StartWatch(100)
    assert watch.look(None, 100) == []
    downloading = runtime("downloading Kafka")
    assert watch.look(downloading, 101) == ["  1.0 s  downloading Kafka"]
    assert watch.look(downloading, 109) == []
    assert watch.going_on(downloading, 109) == "downloading Kafka, 8 s"
    loading = runtime("starting", worker("starting", "loading weights"))
    assert watch.look(loading, 112) == [" 12.0 s  worker-sim-00: loading weights"]
    assert watch.going_on(loading, 130) == "worker-sim-00: loading weights, 18 s"
    assert watch.look(runtime(None, worker("running")), 140.5) == [" 40.5 s  worker-sim-00: running"]


def test_a_start_that_is_tried_again_says_why() -> None:
    again = runtime(None, worker("restarting", reason="exit code 1: no answer"))
    assert StartWatch(0).look(again, 1) == ["  1.0 s  worker-sim-00: restarting (exit code 1: no answer)"]


def test_the_last_words_of_a_failed_start_are_those_of_the_command_line() -> None:
    log = "12:00 INFO up: starting\nheadrace: worker-a does not start: x\nworker-b does not start: y\n"
    assert last_words(log) == "worker-a does not start: x\nworker-b does not start: y"
    assert last_words("Traceback\nKeyError: 3\n") == "Traceback\nKeyError: 3"
    assert last_words("") == "it ended without a word"
