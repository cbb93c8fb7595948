"""Tables in and out, with DuckDB and the log in memory."""

from __future__ import annotations

from csv import reader as csv_reader
from csv import writer as csv_writer
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pytest

from schemas.decode import Decoder
from stream.errors import UsageError
from stream.run_batch.beginning import take_up
from stream.run_batch.files import write_output
from stream.run_batch.named import words_of_named
from stream.run_batch.outcome import cells_of
from stream.run_batch.row import Mark, Row
from stream.run_batch.source import make_source
from stream.run_batch.table_out import cells_line, write_table
from stream.run_batch.unchanged import InputChanged, change_written_down
from stream.run_batch.wanted import Wanted
from tests.stream.run_batch.stage import INVALID, SETTINGS, StageOfBatch, custom_id, requests_file

REVIEWS = 'id,text,stars\n007,"Good, very",5\n008,"two\nlines",\n009,Übel,1\n'


BEGINNING = Mark()


def csv(tmp_path: Path, content: str = REVIEWS) -> Path:
    path = tmp_path / "in.csv"
    path.write_text(content, encoding="utf-8")
    return path


def wanted(tmp_path: Path, output: str = "out.csv", **more: Any) -> Wanted:
    options = {"prompt": "Classify: {text}", **more}
    return Wanted(options.pop("input", None) or csv(tmp_path), tmp_path / output, **options)


def rows(asked: Wanted, begin: Mark = BEGINNING) -> list[Row]:
    return list(make_source(asked, SETTINGS, started=False).rows.read(begin))


def run(asked: Wanted, failing: str = "") -> None:
    stage = StageOfBatch(asked)

    def answer() -> None:
        for record in stage.requests():
            stage.answer(record, INVALID if custom_id(record) == failing else None)

    write_output(asked, stage.folder, stage.run(answer))


def test_a_row_becomes_a_request_with_its_key_and_headers(tmp_path: Path) -> None:
    asked = wanted(tmp_path, id_column="id", key_column="stars", header_columns=[("review", "id")])
    first, second, _ = rows(asked)
    request = Decoder().decode(first.value)
    assert (request.custom_id, request.endpoint) == ("007", "sim")
    assert msgspec.json.decode(first.value or b"")["body"]["messages"] == [
        {"role": "user", "content": "Classify: Good, very"}
    ]
    assert (first.key, first.headers) == (b"5", [("review", b"007")])
    assert second.key is None
    assert (
        msgspec.json.decode(second.value or b"")["body"]["messages"][0]["content"] == "Classify: two\nlines"
    )


def test_rows_are_read_on_from_a_mark(tmp_path: Path) -> None:
    asked = wanted(tmp_path)
    every = rows(asked)
    assert rows(asked, every[1].after) == every[2:]
    assert [row.number for row in every] == [0, 1, 2]


def test_a_csv_comes_out_as_it_went_in_with_two_columns_more(tmp_path: Path) -> None:
    run(wanted(tmp_path), failing="row-2")
    with duckdb.connect() as connection:
        query = "SELECT * FROM read_csv(?, all_varchar=true)"
        found = connection.execute(query, [str(tmp_path / "out.csv")])
        assert [column[0] for column in found.description] == ["id", "text", "stars", "answer", "error"]
        assert found.fetchall() == [
            ("007", "Good, very", "5", "answer to row-1", None),
            ("008", "two\nlines", None, None, "invalid: the reason"),
            ("009", "Übel", "1", "answer to row-3", None),
        ]


def test_parquet_keeps_its_types_in_and_out(tmp_path: Path) -> None:
    source = tmp_path / "in.parquet"
    table = "SELECT i::INTEGER AS n, 'text ' || i AS text, DATE '2026-01-01' + i::INTEGER AS day FROM range(3000) t(i)"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({table}) TO '{source}' (FORMAT parquet)")
    asked = wanted(tmp_path, "out.parquet", input=source, prompt="{text} of {day}", answer_column="Mood")
    assert b"text 1 of 2026-01-02" in (rows(asked)[1].value or b"")
    run(asked)
    with duckdb.connect() as connection:
        out = tmp_path / "out.parquet"
        types = connection.execute(f"DESCRIBE SELECT * FROM '{out}'").fetchall()
        answers = connection.execute(f"SELECT * FROM '{out}'").fetchall()
    assert [(name, kind) for name, kind, *_ in types] == [
        ("n", "INTEGER"),
        ("text", "VARCHAR"),
        ("day", "DATE"),
        ("Mood", "VARCHAR"),
        ("error", "VARCHAR"),
    ]
    assert [row[0] for row in answers] == list(range(3000))
    assert all(row[3] == f"answer to row-{row[0] + 1}" for row in answers)


def test_requests_come_out_as_a_table_of_their_ids(tmp_path: Path) -> None:
    run(Wanted(requests_file(tmp_path, ["a", None, "c"]), tmp_path / "out.csv"), failing="c")
    assert (tmp_path / "out.csv").read_text().splitlines() == [
        "custom_id,answer,error",
        "a,answer to a,",
        ",answer to None,",
        "c,,invalid: the reason",
    ]


def test_rows_come_out_as_lines_in_the_order_in_which_they_are_answered(tmp_path: Path) -> None:
    run(wanted(tmp_path, "lines.jsonl"))
    lines = [msgspec.json.decode(line) for line in (tmp_path / "lines.jsonl").read_bytes().splitlines()]
    assert sorted(line["custom_id"] for line in lines) == ["row-1", "row-2", "row-3"]


@pytest.mark.parametrize("output", ["out.csv", "out.parquet", "out.jsonl"])
def test_an_input_without_rows_is_an_output_without_rows(tmp_path: Path, output: str) -> None:
    run(wanted(tmp_path, output, input=csv(tmp_path, "id,text\n")))
    with duckdb.connect() as connection:
        if output == "out.jsonl":
            assert (tmp_path / output).read_bytes() == b""
        else:
            assert connection.execute(f"SELECT * FROM '{tmp_path / output}'").fetchall() == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"prompt": "{txt}"}, "has no column 'txt', did you mean \"text\"?"),
        ({"key_column": "star"}, "has no column 'star', did you mean \"stars\"?"),
        ({"id_column": "ID2"}, "has no column 'ID2'"),
        ({"header_columns": [("x", "idd")]}, "has no column 'idd', did you mean \"id\"?"),
        ({"answer_column": "Text"}, "has a column 'Text' already: name another with --answer-column"),
        ({"endpoint": "sin"}, "no endpoint 'sin', did you mean \"sim\"?"),
        ({"model": "sin"}, "no endpoint has the model 'sin', did you mean \"sim\"?"),
    ],
)
def test_what_is_not_there_is_refused_with_the_nearest_name(
    tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError) as refused:
        rows(wanted(tmp_path, **options))
    assert words in str(refused.value)


def test_a_file_that_is_no_table_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    path.write_text("no parquet")
    with pytest.raises(UsageError, match=r"in\.parquet cannot be read: "):
        rows(wanted(tmp_path, input=path))


def test_cells_that_look_like_comments_quotes_and_delimiters_come_out_whole(tmp_path: Path) -> None:
    cells = ["#1", "'a", "b'", " c ", 'd"e', "f;g\th|i", "j\r\nk", "\\", "NULL", "\u2028"]
    with (tmp_path / "in.csv").open("w", encoding="utf-8", newline="") as file:
        csv_writer(file).writerows([["text", "No 2"], *([cell, "x"] for cell in cells)])
    run(wanted(tmp_path, input=tmp_path / "in.csv"))
    with (tmp_path / "out.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv_reader(file, strict=True)) == [
            ["text", "No 2", "answer", "error"],
            *([cell, "x", f"answer to row-{number}", ""] for number, cell in enumerate(cells, 1)),
        ]


def test_a_csv_of_another_delimiter_becomes_parquet(tmp_path: Path) -> None:
    run(wanted(tmp_path, "out.parquet", input=csv(tmp_path, "id;text\n1;a,b\n"), delimiter=";"))
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT * FROM '{tmp_path / 'out.parquet'}'").fetchall()
    assert found == [("1", "a,b", "answer to row-1", None)]


@pytest.mark.parametrize("cell", ["", '""'])
def test_a_row_without_an_id_has_no_custom_id(tmp_path: Path, cell: str) -> None:
    path = csv(tmp_path, f"id,text\n{cell},a\n7,b\n")
    found = [
        Decoder().decode(row.value).custom_id for row in rows(wanted(tmp_path, input=path, id_column="id"))
    ]
    assert found == [None, "7"]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.parametrize("moment", ["asked", "answered"])
def test_an_input_that_changes_while_it_runs_joins_nothing(tmp_path: Path, kind: str, moment: str) -> None:
    asked = wanted(tmp_path, f"out.{kind}")
    stage = StageOfBatch(asked)

    def change() -> None:
        stage.answer_all()
        if moment == "asked":
            csv(tmp_path, REVIEWS.replace("Good", "Poor"))

    def whole() -> None:
        with change_written_down(asked.input, stage.folder):
            state = stage.run(change)
            csv(tmp_path, REVIEWS.replace("Good", "Poor"))
            write_output(asked, stage.folder, state)

    with pytest.raises(InputChanged, match="changed while the batch ran"):
        whole()
    assert asked.output.exists() == (kind == "jsonl")
    csv(tmp_path)
    with pytest.raises(UsageError, match="start over with --fresh"):
        take_up(asked, stage.folder, fresh=False)


def test_an_input_that_shrinks_while_it_runs_is_said_to_have_changed(tmp_path: Path) -> None:
    asked = wanted(tmp_path)
    stage = StageOfBatch(asked)
    csv(tmp_path, "id,text,stars\n1,a,2\n")
    with pytest.raises(InputChanged), change_written_down(asked.input, stage.folder):
        stage.run()


def test_an_input_that_changes_while_the_table_is_written_makes_no_table(tmp_path: Path) -> None:
    asked = wanted(tmp_path)
    stage = StageOfBatch(asked)
    state = stage.run()

    def changed() -> None:
        raise InputChanged(asked.input)

    with pytest.raises(InputChanged):
        write_table(asked.table, stage.folder.cells, (asked.output, "csv"), ("answer", "error"), changed)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "out.csv.batch"]
    write_output(asked, stage.folder, state)


def output_line(body: dict[str, Any], **more: Any) -> bytes:
    return msgspec.json.encode({"custom_id": "a", "error": None, "response": {"body": body}, **more})


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ({"choices": [{"index": 1, "text": "b"}, {"index": 0, "text": "a"}]}, '["a","b"]'),
        ({"choices": [{"index": 0, "text": '["a"]'}]}, '["a"]'),
        ({"choices": [{"message": {"content": "a"}}, {"message": {"content": None}}]}, '["a",null]'),
        ({"choices": [{"message": {"content": None}}]}, None),
        ({"choices": [{"message": {"content": None, "tool_calls": [{"id": "x"}]}}]}, '[{"id":"x"}]'),
        (
            {"choices": [{"message": {"content": "a", "tool_calls": [{"id": "x"}]}}]},
            '{"content":"a","tool_calls":[{"id":"x"}]}',
        ),
        ({"data": [{"index": 0, "embedding": [1.5]}]}, "[1.5]"),
        ({"data": [{"index": 1, "embedding": [2.5]}, {"index": 0, "embedding": [1.5]}]}, "[[1.5],[2.5]]"),
        ({"choices": []}, None),
    ],
)
def test_all_answers_of_a_row_stand_in_its_cell(body: dict[str, Any], answer: str | None) -> None:
    assert cells_of(output_line(body)).answer == answer


def test_fields_without_effect_are_counted_by_name(tmp_path: Path) -> None:
    told = {"ignored": {"paths": ["body.user"], "count": 3}, "clamped": {"max_tokens": 7}}
    body = {"choices": [{"text": "a"}]}
    path = tmp_path / "cells.jsonl"
    path.write_bytes(cells_line(output_line(body)))
    assert words_of_named(path) is None
    path.write_bytes(cells_line(output_line(body, headrace=told)) * 2 + cells_line(output_line(body)))
    words = words_of_named(path) or ""
    assert words.endswith(": body.user ignored (2), more ignored (2), max_tokens lowered (2)")
    assert words_of_named(tmp_path / "missing") is None
