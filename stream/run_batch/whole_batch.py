"""A whole batch: begun or gone on with, run, and put away."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import closing, suppress
from typing import Final

import msgspec
from rich.console import Console

from stream.client.installation import Installation
from stream.client.topic_names import input_topic_name
from stream.errors import StreamError
from stream.run_batch.batch import Batch
from stream.run_batch.beginning import begin, take_up
from stream.run_batch.check import TOLD_MAX, check_rows
from stream.run_batch.chosen import Chosen, anybody_beats, choose
from stream.run_batch.dependencies import BatchDependencies
from stream.run_batch.feeder import Feeder
from stream.run_batch.files import opened_files, write_output
from stream.run_batch.fingerprint import Fingerprint, fingerprint
from stream.run_batch.folder import BatchFolder
from stream.run_batch.named import words_of_named
from stream.run_batch.quiet import Quiet
from stream.run_batch.serving import Watch, serving
from stream.run_batch.show import Shown
from stream.run_batch.source import Source, count, make_source
from stream.run_batch.state import State
from stream.run_batch.unchanged import change_written_down
from stream.run_batch.wanted import Wanted
from stream.supervisor.stop import EXIT_SIGINT, StopWish

EXIT_DONE: Final = 0
EXIT_STOPPED: Final = 1
EXIT_FINDINGS: Final = 2
ASK_S: Final = 30.0


def run_batch(wanted: Wanted, arguments: argparse.Namespace, *, check: bool, fresh: bool) -> int:
    """The exit code: 0 when every row has its outcome, an answer or an error. Main thread only."""
    wanted.check(getattr(arguments, "config", None))
    folder, stop = BatchFolder(wanted.output), StopWish()
    with folder.held():
        run = _Run(wanted, folder, stop, Console(stderr=True))
        try:
            return run.whole(arguments, check=check, fresh=fresh)
        except KeyboardInterrupt:
            run.say(f"stopped; the same command goes on, --fresh starts over (state: {folder.path})")
            return EXIT_STOPPED if stop.wished and stop.exit_code != EXIT_SIGINT else EXIT_SIGINT


class _Run:
    """One command."""

    def __init__(self, wanted: Wanted, folder: BatchFolder, stop: StopWish, console: Console) -> None:
        self._wanted = wanted
        self._folder = folder
        self._stop = stop
        self._console = console

    def say(self, words: str) -> None:
        self._console.print(f"headrace: {words}", highlight=False, markup=False, soft_wrap=True)

    def whole(self, arguments: argparse.Namespace, *, check: bool, fresh: bool) -> int:
        wanted, folder = self._wanted, self._folder
        state = take_up(wanted, folder, fresh=fresh)
        chosen = choose(arguments, wanted, folder, state)
        if state is not None and state.done:
            return self._put_away(state, chosen)
        # Before anything is read of it: what changes from here on is seen at the end.
        found = fingerprint(wanted.input) if state is None else state.fingerprint
        started = chosen.own and chosen.config == folder.config.absolute()
        source = make_source(wanted, chosen.installation.settings, started)
        if check and self._findings(chosen, source):
            return EXIT_FINDINGS
        rows = count(wanted, chosen.installation.settings) if state is None else state.rows
        with self._stop.listening(), serving(chosen, self._stop, self.say) as (installation, watch):
            with change_written_down(wanted.input, folder):
                state = self._answered(chosen, installation, source, state or (rows, found), watch)
                write_output(wanted, folder, state)
            if told := words_of_named(folder.cells):
                self.say(told)
            state = msgspec.structs.replace(state, done=True)
            folder.write(state)
        return self._put_away(state, chosen)

    def _findings(self, chosen: Chosen, source: Source) -> int:
        settings, name = chosen.installation.settings, self._wanted.input

        def tell(line: int, wrong: str) -> None:
            print(f"{name}:{line}: {wrong}", file=sys.stderr)  # noqa: T201

        found = check_rows(source.rows, settings, input_topic_name(settings, self._wanted.topic), tell)
        if found:
            more = f", the first {TOLD_MAX} are above" if found > TOLD_MAX else ""
            self.say(f"{found} of the lines are wrong{more}; nothing was sent")
        return found

    def _answered(
        self,
        chosen: Chosen,
        installation: Installation,
        source: Source,
        known: State | tuple[int, Fingerprint],
        watch: Watch,
    ) -> State:
        """Every row has its outcome."""
        log = installation.log("run-batch")
        if isinstance(known, State):
            state = known
        else:
            state = begin(self._wanted, chosen, log, *known)
            self._folder.write(state)
        prefix = installation.settings.prefix
        feeder = Feeder(
            log,
            source.rows,
            state.batch,
            f"{prefix}run-batch.{state.batch}",
            (state.topic, state.reply_topic),
        )
        unit = "lines" if self._wanted.input_format == "jsonl" else "rows"
        with (
            closing(feeder),
            opened_files(self._wanted, self._folder, state) as (answers, in_order),
            Shown(self._console, unit) as show,
        ):
            if answers.done:
                show.say(f"going on: {answers.done:,} of {state.rows:,} {unit} have their outcome")
            quiet = Quiet(anybody_beats(log, installation), show.say, time.monotonic())
            parts = BatchDependencies(log, feeder, answers, in_order, self._folder, show, quiet, watch)
            return Batch(state, parts).run()

    def _put_away(self, state: State, chosen: Chosen) -> int:
        """What is left when all is written. A topic that cannot be deleted now spoils nothing."""
        if not chosen.own:
            with suppress(StreamError):
                chosen.installation.log("run-batch").admin().delete([state.reply_topic], ASK_S)
        where = f"; they are in {self._wanted.errors}" if self._wanted.errors else ""
        kind = "an error" if state.failed == 1 else "errors"
        errors = "" if not state.failed else f", {state.failed:,} of them {kind}{where}"
        self.say(f"done: {state.rows:,} outcomes in {self._wanted.output}{errors}")
        self._folder.tidy()
        return EXIT_DONE
