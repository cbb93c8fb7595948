"""Random lives of workers on the log in memory: crashes, kills inside transactions, restarts, joins, leaves, aborted and
unknown commits, lost sessions, large answers, reply topics that take nothing.

At the end of each: every input has exactly one output and one usage record, the outputs of a session went in input
order, and with serial order its published runs began in it, one at a time.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stream.worker.life import Life
from workers.endpoint import OrderName


@pytest.mark.parametrize("order", ["session", "serial", "none"])
@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_whatever_happens_each_input_has_one_output_and_sessions_keep_their_order(
    order: OrderName, seed: int
) -> None:
    life = Life(seed, order)
    life.run(60)
    life.check()
