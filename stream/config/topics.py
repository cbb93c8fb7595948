"""`[inputs.…]` and `[outputs]`: which topics are read and written."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Final

from schemas.lane import LANES, Lane
from schemas.topic_name import TOPIC_CHARS_MAX
from stream.config.patterns import DOT_NAMES, TOPIC_NAME, check_pattern
from stream.config.rules import one_of, text, texts
from stream.config.settings import InputBinding, Outputs
from stream.config.table import Table

FORMATS: Final = ("json", "avro", "avro-registry")
COMPRESSIONS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
UNKNOWN_FIELDS: Final = ("name", "refuse")
TENANT_BYTES_MAX: Final = 256


def read_inputs(tables: Table, prefix: str, folder: Path) -> tuple[InputBinding, ...]:
    """The inputs in the order of the file; `<prefix>requests` is one of them, said or not."""
    bindings = [_read_input(pattern, table, tables, folder) for pattern, table in tables.each()]
    standard = f"{prefix}requests"
    if all(binding.pattern != standard for binding in bindings):
        bindings.insert(0, InputBinding(standard))
    return tuple(bindings)


def _read_input(pattern: str, table: Table, tables: Table, folder: Path) -> InputBinding:
    wrong = check_pattern(pattern)
    if wrong:
        tables.wrong(pattern, f"is no topic or pattern: {wrong}")
    lane = table.take("lane", one_of([str(lane) for lane in LANES]), None)
    binding = InputBinding(
        pattern=pattern,
        format=table.take("format", one_of(FORMATS), "json"),
        schema=table.take("schema", text(), None),
        tenant=table.take("tenant", text(TENANT_BYTES_MAX), None),
        lane=None if lane is None else Lane(lane),
        unknown_fields=table.take("unknown_fields", one_of(UNKNOWN_FIELDS), "name"),
    )
    table.close(("quota", "jobs"))
    return _with_schema(binding, table, folder)


def _with_schema(binding: InputBinding, table: Table, folder: Path) -> InputBinding:
    if binding.format != "avro":
        if binding.schema is not None:
            table.wrong("schema", f'is only for format = "avro", this one is "{binding.format}"')
        return binding
    if binding.schema is None:
        table.wrong("schema", 'is missing: format = "avro" needs the path of its schema file')
        return binding
    path = folder / binding.schema
    if not path.is_file():
        table.wrong("schema", f'names "{binding.schema}", which is no file beside the configuration')
    elif fault := _schema_fault(path):
        table.wrong("schema", f'names "{binding.schema}", which is {fault}')
    return replace(binding, schema=str(path))


def _schema_fault(path: Path) -> str | None:
    from schemas.avro import AvroSchema  # noqa: PLC0415 - fastavro takes as long as all else, and few need it
    from schemas.errors import SchemaInvalid  # noqa: PLC0415

    try:
        AvroSchema(path.read_text(encoding="utf-8"))
    except SchemaInvalid as wrong:
        return str(wrong)
    except (OSError, UnicodeDecodeError) as wrong:
        return f"no text that can be read: {wrong}"
    return None


def read_outputs(table: Table, prefix: str) -> Outputs:
    """Topics for answers and dead letters; the defaults carry the installation's prefix."""
    results = table.take("results", _name, f"{prefix}results")
    outputs = Outputs(
        results=results,
        dead_letters=table.take("dead_letters", _name, f"{prefix}dead-letters"),
        reply_topics=table.take("reply_topics", texts(_pattern), (results, f"{prefix}replies.*")),
        compression=table.take("compression", one_of(COMPRESSIONS), "gzip"),
    )
    table.close()
    return outputs


def _name(value: object) -> str:
    like = 'the name of a topic: letters, digits, ".", "_" and "-"'
    taken = text(TOPIC_CHARS_MAX, TOPIC_NAME, like)(value)
    if taken in DOT_NAMES:
        raise ValueError(f'must be {like}, but neither "." nor ".."')
    return taken


def _pattern(value: object) -> str:
    taken = text()(value)
    wrong = check_pattern(taken)
    if wrong:
        raise ValueError(f"holds {wrong}")
    return taken


def is_prefix(value: object) -> str:
    """What all own topics, groups and transactional ids begin with."""
    taken = text(60)(value)
    if not re.fullmatch(r"[a-zA-Z0-9_-][a-zA-Z0-9._-]*", taken):
        raise ValueError(f'must be letters, digits, ".", "_" and "-", not "{taken}"')
    return taken
