"""`headrace run-batch -i IN -o OUT`: a file of requests, or a table with a template, answered over the bus."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from schemas.lane import LANES
from stream.cli.options import installation_options, positive
from stream.cli.parser import Commands
from stream.run_batch.engine_flags import ENGINE_FLAGS, add_flags, engine_options
from stream.run_batch.table import FORMATS
from stream.run_batch.wanted import Wanted
from stream.run_batch.whole_batch import run_batch

DESCRIPTION: Final = (
    "A drop-in for `vllm run-batch` that goes on after any kill: give the same command again. Uses the installation "
    "that lives (-c, --state-dir, ./.headrace), else starts one and ends it. Exit code 0: every line has its outcome, "
    "an answer or an error."
)
EPILOG: Final = (
    "Of the engine's options an installation that is started for --model takes "
    f"{', '.join('--' + name for name in ENGINE_FLAGS)}; all others stand in [endpoints.NAME] options of a "
    "configuration, given with -c."
)


def add_parser(commands: Commands[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "run-batch", parents=[installation_options()], description=DESCRIPTION, epilog=EPILOG
    )
    add = parser.add_argument
    add(
        "-i", "--input-file", type=Path, required=True, metavar="IN", help=".jsonl (requests), .csv, .parquet"
    )
    add("-o", "--output-file", type=Path, required=True, metavar="OUT", help=".jsonl, .csv or .parquet")
    add("--format", choices=FORMATS, help="of the input, where its ending does not tell")
    add("--delimiter", type=_delimiter, metavar="C", help="of a CSV input (default: , and of .tsv a tab)")
    add("--errors", type=Path, metavar="FILE", help="lines that failed go there, not beside the answers")
    add("--ordered", action="store_true", help="output lines in input order (a table always is)")
    add("--check", action="store_true", help="look at every line first; exit code 2 when one is wrong")
    add("--fresh", action="store_true", help="forget a batch that stopped, and the output, and start over")
    add("--model", metavar="M", help="the endpoint, or the model it loads; loaded, where nothing lives yet")
    add("--served-model-name", metavar="M", help="the model that the lines name, where it is another one")
    add("--endpoint", metavar="NAME", help="the endpoint that answers")
    add("--topic", metavar="T", help="the input topic (default: the first one that takes JSON)")
    add("--lane", choices=[str(lane) for lane in LANES], help="the lane of all records")
    add("--tenant", help="the tenant of all records")
    add("--key-field", metavar="F", help="the field of a request that is its session, dots allowed")
    _add_table_options(parser)
    add_flags(parser)


def _add_table_options(parser: argparse.ArgumentParser) -> None:
    table = parser.add_argument_group("tables", "requests from the rows of a CSV or Parquet file")
    add = table.add_argument
    add("--prompt", metavar="TEXT", help='the user\'s message, columns in braces: "Classify: {text}"')
    add("--system", metavar="TEXT", help="the system's message, in the same way")
    add("--body", type=Path, metavar="FILE", help="a request's body as JSON, columns in braces in its texts")
    add("--max-tokens", type=positive, metavar="N", help="of an answer")
    add("--choice", metavar="A,B,C", help="the answer is one of these")
    add("--id-column", metavar="COLUMN", help="the custom_id (default: row-1, row-2, …)")
    add("--key-column", metavar="COLUMN", help="the record's key, and so its session")
    add("--header", action="append", default=[], type=_pair, metavar="NAME=COLUMN", help="repeatable")
    add("--answer-column", default="answer", metavar="NAME", help="of the output (default: answer)")
    add("--error-column", default="error", metavar="NAME", help="of the output (default: error)")


def run(arguments: argparse.Namespace) -> int:
    wanted = Wanted(
        input=arguments.input_file,
        output=arguments.output_file,
        format=arguments.format,
        delimiter=arguments.delimiter,
        errors=arguments.errors,
        ordered=arguments.ordered,
        prompt=arguments.prompt,
        system=arguments.system,
        body=arguments.body,
        tokens_max=arguments.max_tokens,
        choices=[] if arguments.choice is None else _choices(arguments.choice),
        endpoint=arguments.endpoint,
        model=arguments.model,
        served_name=arguments.served_model_name,
        engine_options=engine_options(arguments),
        id_column=arguments.id_column,
        key_column=arguments.key_column,
        key_field=arguments.key_field,
        header_columns=arguments.header,
        lane=arguments.lane,
        tenant=arguments.tenant,
        answer_column=arguments.answer_column,
        error_column=arguments.error_column,
        topic=arguments.topic,
    )
    return run_batch(wanted, arguments, check=arguments.check, fresh=arguments.fresh)


def _pair(text: str) -> tuple[str, str]:
    name, equals, column = text.partition("=")
    if not name or not equals or not column:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=COLUMN")
    return name, column


def _delimiter(text: str) -> str:
    found = {"\\t": "\t", "tab": "\t"}.get(text, text)
    if len(found) != 1 or found in '"\r\n\0' or (not found.isprintable() and found != "\t"):
        raise argparse.ArgumentTypeError(f"{text!r} is not one character, as ; or tab")
    return found


def _choices(text: str) -> list[str]:
    return [choice.strip() for choice in text.split(",") if choice.strip()]
