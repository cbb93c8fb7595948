"""What a command line of run-batch asks for, as values. What contradicts itself is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from stream.errors import UsageError
from stream.run_batch.batch_headers import OWN
from stream.run_batch.distinct import refuse_shared
from stream.run_batch.fingerprint import fingerprint
from stream.run_batch.folder import beside_of, folder_of
from stream.run_batch.table import Format, Table, format_of

#: Options that make requests of rows, and mean nothing for an input that holds requests.
_OF_TABLES: Final = (
    "delimiter",
    "prompt",
    "system",
    "body",
    "tokens_max",
    "choices",
    "id_column",
    "key_column",
    "header_columns",
)


@dataclass(frozen=True, slots=True)
class Wanted:
    """One batch, as it was asked for."""

    input: Path
    output: Path
    format: Format | None = None
    delimiter: str | None = None
    errors: Path | None = None
    ordered: bool = False
    prompt: str | None = None
    system: str | None = None
    body: Path | None = None
    tokens_max: int | None = None
    choices: Sequence[str] = ()
    endpoint: str | None = None
    model: str | None = None
    served_name: str | None = None
    engine_options: Mapping[str, Any] = field(default_factory=dict)
    id_column: str | None = None
    key_column: str | None = None
    key_field: str | None = None
    #: (header, column).
    header_columns: Sequence[tuple[str, str]] = ()
    lane: str | None = None
    tenant: str | None = None
    answer_column: str = "answer"
    error_column: str = "error"
    topic: str | None = None

    @property
    def input_format(self) -> Format:
        return format_of(self.input, self.format)

    @property
    def table(self) -> Table:
        return Table(self.input, self.input_format, self.delimiter)

    @property
    def output_format(self) -> Format:
        """--format speaks of the input; the output is told by its own ending."""
        return format_of(self.output, None)

    @property
    def shape(self) -> dict[str, str | None]:
        """The options that shape records and files, by their names: a batch goes on with the same ones only."""
        left_out = ("input", "output", "engine_options", "served_name")
        told = {name: getattr(self, name) for name in self.__slots__ if name not in left_out}
        if self.body is not None:
            told["body"] = f"{self.body} ({fingerprint(self.body).blake2b})"
        return {name: str(value) for name, value in told.items() if value not in (None, (), [], False)}

    @property
    def written(self) -> dict[str, Path]:
        """Files that are made, by their options."""
        return {"-o": self.output} | ({} if self.errors is None else {"--errors": self.errors})

    def check(self, config: Path | None = None) -> None:
        """UsageError for options that do not go together. `config` is the file of -c."""
        _check_files(self)
        given_files = (("-i", self.input), ("--body", self.body), ("-c", config))
        read = {name: path for name, path in given_files if path is not None}
        # A table appears by way of a file beside it.
        beside = {"-o": beside_of(self.output)} if self.output_format != "jsonl" else {}
        refuse_shared(read, self.written, folder_of(self.output))
        refuse_shared(read, beside, folder_of(self.output))
        given = [name for name in _OF_TABLES if getattr(self, name) not in (None, (), [])]
        if self.input_format == "jsonl" and given:
            raise UsageError(
                f"{_option(given[0])} makes requests of a table's rows, and {self.input} holds requests already: "
                "take a .csv or .parquet input, or say --format csv"
            )
        if self.input_format != "jsonl" and self.key_field is not None:
            raise UsageError("--key-field is for requests; the key of a table's rows is --key-column COLUMN")
        if self.input_format != "csv" and self.delimiter is not None:
            raise UsageError("--delimiter is for CSV")
        if self.system is not None and self.prompt is None:
            raise UsageError("--system needs --prompt")
        for name, _ in self.header_columns:
            if name in OWN:
                raise UsageError(f"--header {name}: run-batch sets it itself")


def _check_files(wanted: Wanted) -> None:
    for name, path in (("-i", wanted.input), ("-o", wanted.output)):
        if str(path) == "-" or str(path).startswith(("http:/", "https:/")):
            raise UsageError(
                f"{name} {path}: run-batch goes on after a kill, so it needs a file; "
                "for streams there are `headrace produce` and `headrace consume`"
            )
    if not wanted.input.is_file():
        raise UsageError(f"{wanted.input} is no file that can be read")
    if not wanted.output.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {wanted.output.absolute().parent} for {wanted.output}")
    for path in wanted.written.values():
        if path.is_dir():
            raise UsageError(f"{path} is a folder; name a file")
    if wanted.errors is not None and wanted.output_format != "jsonl":
        raise UsageError(f"--errors is for lines; in a table each row has its column {wanted.error_column}")


def _option(name: str) -> str:
    spelled = {"tokens_max": "max-tokens", "choices": "choice", "header_columns": "header"}
    return "--" + spelled.get(name, name.replace("_", "-"))
