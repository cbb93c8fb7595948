"""What a person sees of the demo, at 80 columns too."""

from __future__ import annotations

import io

from rich.console import Console

from stream.demo.show import Shown, results_table

ANSWERS = {"mood-00": "positive", "summary-00": "a kettle\nthat boils"}


def printed(shown: Shown) -> str:
    out = io.StringIO()
    Console(file=out, width=80).print(results_table(ANSWERS, shown))
    return out.getvalue()


def test_a_row_has_both_custom_ids_whole_and_fits_80_columns() -> None:
    told = printed(Shown(12, "vllm"))
    assert all(len(line) <= 80 for line in told.splitlines())
    assert "mood-00" in told
    assert "summary-11" in told
    assert "summary-12" not in told
    assert "positive" in told


def test_all_rows_come_on_demand_and_no_more_than_there_are() -> None:
    assert "summary-39" in printed(Shown(40, "vllm"))
    assert "Results (40 of 40 reviews)" in printed(Shown(99, "vllm"))


def test_simulated_answers_are_called_so() -> None:
    assert "simulated answers" in printed(Shown(1, "simulated"))
    assert "simulated" not in printed(Shown(1, "vllm"))
