"""`headrace demo`: up, sample records, progress, a table of results, dead letters, the tally, then stop."""

from __future__ import annotations

import argparse
import shutil
import signal
import time
from pathlib import Path
from typing import Final

from rich.console import Console

from stream.cli.options import positive
from stream.cli.parser import Commands
from stream.cli.start_lines import start_lines
from stream.client.answer import Answer
from stream.client.client import Client
from stream.config.settings import Settings
from stream.demo.installation import DemoInstallation
from stream.demo.reviews import REVIEWS
from stream.demo.run import Sent, feed, watch
from stream.demo.samples import samples
from stream.demo.show import ROWS, Shown, dead_letters_table, progress_bar, results_table, tally_lines
from stream.demo.tally import tally
from stream.errors import UsageError
from stream.log.kafka.log import kafka_log
from stream.process_context import ProcessContext
from stream.role.atomic_file import replace_text
from stream.supervisor.lock import state_dir_lock
from stream.supervisor.runtime import RuntimeFile
from stream.supervisor.up import end_predecessor
from workers.journal import journal_path, read_totals

ENDPOINT: Final = "smollm2"
STATE_DIR: Final = Path(".headrace-demo")
#: Also the mark of a directory that a demo may empty.
CONFIG_NAME: Final = "demo.toml"
#: The simulated engine is slow enough to be killed in the middle of its work.
CONFIGS: Final = {
    "vllm": f'[endpoints.{ENDPOINT}]\nengine = "vllm"\npartitions = 8\n',
    "simulated": (
        f'[endpoints.{ENDPOINT}]\nengine = "simulated"\npartitions = 8\nslots = 8\n'
        "simulated = { prefill_tokens_per_s = 2000, decode_tokens_per_s = 25 }\n"
    ),
}

NOTES: Final = {
    "vllm": (
        "The model is tiny (135 million parameters), so that it runs anywhere: its answers show the mechanism, "
        "not how good answers can be."
    ),
    "simulated": "The engine is simulated: its answers are made up by a rule, no model runs.",
}


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser("demo", help="the main job end to end, on sample records")
    parser.add_argument("--engine", choices=sorted(CONFIGS), default="vllm", help="simulated needs no model")
    parser.add_argument(
        "--kill",
        choices=("worker", "dispatcher", "none"),
        help="SIGKILL that process in the middle (with the simulated engine: worker by default)",
    )
    parser.add_argument(
        "--rows",
        type=positive,
        default=ROWS,
        metavar="N",
        help=f"reviews in the table, at most {len(REVIEWS)} (default %(default)s)",
    )
    parser.add_argument(
        "--state-dir",
        type=Path,
        default=STATE_DIR,
        help="emptied first, if a demo made it (default: %(default)s)",
    )


def run(arguments: argparse.Namespace) -> int:
    kill = arguments.kill or ("worker" if arguments.engine == "simulated" else "none")
    console = Console(markup=False)
    config = prepare(arguments.state_dir, arguments.engine)
    # A terminal that goes away, or a time limit around us, must not leave an installation behind.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    console.print(f"Headrace's main job. {NOTES[arguments.engine]}", highlight=False)
    begin = time.monotonic()
    installation = DemoInstallation(config, arguments.state_dir)
    try:
        with start_lines(console) as told:
            bootstrap = installation.wait_ready(told)
        console.print(f"ready after {time.monotonic() - begin:.1f} s: Kafka at {bootstrap}", highlight=False)
        place = ProcessContext(bootstrap, arguments.state_dir.absolute(), "demo")
        exact = _main_job(console, installation, place, kill, Shown(arguments.rows, arguments.engine))
    except KeyboardInterrupt:
        console.print("interrupted: stopping all that was started …")
        raise
    finally:
        installation.stop()
    console.print(f"stopped; logs and data are in {arguments.state_dir}")
    return 0 if exact else 1


def _end(number: int, _frame: object) -> None:
    raise SystemExit(0 if number == signal.SIGTERM else 1)


def prepare(state_dir: Path, engine: str) -> Path:
    """An empty state directory with the demo's configuration. Refused while something lives in it, or is not ours."""
    if state_dir.exists():
        _refuse_foreign(state_dir)
        with state_dir_lock(state_dir) as lock:
            end_predecessor(RuntimeFile(state_dir).read(), lock)
            shutil.rmtree(state_dir)
    config = state_dir / CONFIG_NAME
    replace_text(config, CONFIGS[engine])
    return config


def _refuse_foreign(state_dir: Path) -> None:
    """UsageError for a directory with something in it that no demo has put there: it would be deleted."""
    try:
        ours = (state_dir / CONFIG_NAME).is_file() or not any(state_dir.iterdir())
    except OSError as error:
        raise UsageError(
            f"the state directory {state_dir} cannot be used ({error.strerror}): choose another --state-dir"
        ) from error
    if not ours:
        raise UsageError(
            f"{state_dir} is not empty and no earlier demo made it (there is no {CONFIG_NAME} in it): the demo "
            "would delete all of it; choose another --state-dir"
        )


def _main_job(
    console: Console, installation: DemoInstallation, place: ProcessContext, kill: str, shown: Shown
) -> bool:
    client, begin, killed = Client(kafka_log(place), Settings()), time.monotonic(), None
    lines = samples(ENDPOINT)
    # A dispatcher is done in an instant: half of the records come while it is dead.
    first = lines[: len(lines) // 2] if kill == "dispatcher" else lines
    sent = feed(client, first)
    outcomes: list[Answer] = []
    with progress_bar(console) as bar:
        task = bar.add_task("answers", total=len(lines), rate="")
        if kill != "none":
            outcomes = watch(client, len(lines) // 4, bar, task)
            killed = installation.kill(kill)
            console.print(f"killed {killed} with {len(outcomes)} of {len(lines)} records done")
            sent += feed(client, lines[len(first) :])
        outcomes = watch(client, len(lines), bar, task)
    _report(console, sent, outcomes, shown)
    sums = tally([record.source for record in sent], outcomes)
    repeats = read_totals(journal_path(place.state_dir, f"worker-{ENDPOINT}-00")).repeats
    for line in tally_lines(sums, time.monotonic() - begin, killed, repeats):
        console.print(line, highlight=False)
    return sums.exact


def _report(console: Console, sent: list[Sent], outcomes: list[Answer], shown: Shown) -> None:
    name_of = {record.source: record.name for record in sent}
    answers = {name_of.get(one.source, ""): one.text for one in outcomes if one.ok}
    dead = [(name_of.get(one.source, one.source), one) for one in outcomes if not one.ok]
    console.print(results_table(answers, shown))
    console.print(dead_letters_table(dead))
