"""Benchmarks bring their own data."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean

from benchmarks.review_jobs import CLASSIFICATIONS, SUMMARIES, job
from benchmarks.reviews import made_reviews, read_reviews
from schemas.decode import Decoder


def test_made_reviews_are_the_same_each_time_and_differ_among_themselves() -> None:
    reviews = made_reviews(400)
    assert reviews == made_reviews(400)
    assert len(set(reviews)) > 390
    assert 15 < mean(len(review.split()) for review in reviews) < 35


def test_a_job_without_a_file_is_whole_and_each_of_its_lines_a_good_request() -> None:
    lines = job("smollm2")
    assert len(lines) == CLASSIFICATIONS + SUMMARIES
    requests = [Decoder().decode(line.encode()) for line in lines]
    assert {request.body.model for request in requests} == {"smollm2"}


def test_a_job_takes_the_reviews_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "reviews.tsv"
    file.write_text("1\tgood\tI like it.\n\nA line alone.\n", encoding="utf-8")
    assert read_reviews(file) == ["I like it.", "A line alone."]
    first, second = (json.loads(line)["body"]["messages"][0]["content"] for line in job("smollm2", file))
    assert first.endswith("\n\nI like it.")
    assert second.endswith("\n\nA line alone.")
