"""Tables in and out, with DuckDB and the log in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pytest

from schemas.decode import Decoder
from stream.errors import UsageError
from stream.run_batch.files import write_output
from stream.run_batch.row import Mark, Row
from stream.run_batch.source import make_source
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

    stage.run(answer)
    write_output(asked, stage.folder)


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
