"""CSV in: what is written there is what is read, whatever it looks like."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream.errors import UsageError
from stream.run_batch.csv_file import CsvFile


def read(path: Path, content: str | bytes, delimiter: str = ",") -> list[list[str]]:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [[cell or "" for cell in row] for row in CsvFile(path, delimiter).rows()]


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        ("id,text\n#1,a\n#2,b\n3,c\n", [["#1", "a"], ["#2", "b"], ["3", "c"]]),
        ("id,text\n1,'a\n2,b'\n3,c\n", [["1", "'a"], ["2", "b'"], ["3", "c"]]),
        ("id,text\n1,'hello'\n", [["1", "'hello'"]]),
        ("text\na;b\nc;d\n", [["a;b"], ["c;d"]]),
        ("id,text\n 1,  a b \n", [[" 1", "  a b "]]),
        ('id,text\n1,"a\nb\r\nc"\n', [["1", "a\nb\r\nc"]]),
        ("id,text\r\n1,a\r\n2,b\r\n", [["1", "a"], ["2", "b"]]),
        ('id,text\n1,"a ""b"" \\"\n', [["1", 'a "b" \\']]),
        ("id,text\n1,\n\n,2\n", [["1", ""], ["", "2"]]),
        ("\ufeffid,text\n1,a", [["1", "a"]]),
        ("id|x,text\n1|2,a\n1|2,b\n", [["1|2", "a"], ["1|2", "b"]]),
        ("text\n" + "x" * 200_000 + "\n", [["x" * 200_000]]),
    ],
)
def test_nothing_is_guessed(tmp_path: Path, content: str, rows: list[list[str]]) -> None:
    assert read(tmp_path / "in.csv", content) == rows


def test_the_delimiter_is_what_it_is_told_to_be(tmp_path: Path) -> None:
    assert read(tmp_path / "in.csv", "id;text\n1;a,b\n", ";") == [["1", "a,b"]]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("id,text\n1,a\n2\n", "in.csv:3: 1 cells where the header has 2"),
        ("id,text\n1,a,b\n", "in.csv:2: 3 cells where the header has 2"),
        ('id,text\n1,"a\nb"\n2,"c\n', "in.csv:4: cannot be read as CSV"),
        ('id,text\n1,"a"b\n', "in.csv:2: cannot be read as CSV"),
        (b"id,text\n1,a\n2,\xff\n", "in.csv:3: cannot be read as CSV in UTF-8"),
        ("id,ID\n1,2\n", "in.csv:1: two columns have the name 'ID'"),
        ("", "in.csv has no row of column names"),
    ],
)
def test_what_does_not_parse_is_refused_with_its_line(
    tmp_path: Path, content: str | bytes, words: str
) -> None:
    with pytest.raises(UsageError) as refused:
        read(tmp_path / "in.csv", content)
    assert words in str(refused.value)


def test_a_column_without_a_name_gets_one(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(",text\n0,a\n")
    assert CsvFile(tmp_path / "in.csv", ",").columns() == ["column0", "text"]


_cells = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


@given(
    rows=st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(_cells, min_size=width, max_size=width), min_size=1)
    ),
    delimiter=st.sampled_from(",;\t|"),
)
def test_what_a_writer_of_csv_wrote_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], delimiter: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "round.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerows([[f"c{number}" for number in range(len(rows[0]))], *rows])
    assert [[cell or "" for cell in row] for row in CsvFile(path, delimiter).rows()] == rows
