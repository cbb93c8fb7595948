"""Topics that a command line names."""

from __future__ import annotations

import pytest

from stream.client.topic_names import require_topic
from stream.config.settings import InputBinding
from stream.errors import UsageError
from tests.stream.client.in_memory import InMemory


def test_a_typing_error_is_told_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match=r"no topic 'headrace.request', did you mean .headrace.requests."):
        require_topic(InMemory().log, "headrace.request")


def test_a_topic_that_an_input_pattern_waits_for_is_told_to_be_created() -> None:
    with pytest.raises(UsageError, match=r'the input "orders.\*" reads it within seconds once it is created'):
        require_topic(InMemory().log, "orders.1", inputs=[InputBinding("orders.*")])
