"""The lines of librdkafka that taint a client, as it wrote them, and those that do not."""

from __future__ import annotations

import logging

import pytest

from stream.log.kafka.watch import CoordinatorWatch, tells_of_a_loss

BROKEN = (
    "[thrd:TxnCoordinator]: TxnCoordinator: 127.0.0.1:26896: Disconnected: connection closed by peer: "
    "receive 0 after POLLIN (after 28ms in state UP)"
)


@pytest.mark.parametrize(
    ("facility", "text"),
    [
        ("FAIL", BROKEN),
        (
            "REQTMOUT",
            "[thrd:TxnCoordinator]: TxnCoordinator/1: Timed out EndTxnRequest in flight (after 60090ms)",
        ),
    ],
)
def test_a_request_without_its_answer_is_a_loss(facility: str, text: str) -> None:
    assert tells_of_a_loss(facility, text)


@pytest.mark.parametrize(
    ("facility", "text"),
    [
        ("FAIL", "[thrd:b:9092/bootstrap]: b:9092/bootstrap: Disconnected (after 342ms in state UP)"),
        (
            "FAIL",
            "[thrd:TxnCoordinator]: TxnCoordinator: Connect to b failed: refused (after 0ms in state CONNECT)",
        ),
        ("GETPID", "[thrd:main]: Failed to acquire transactional PID from broker TxnCoordinator/1: retrying"),
    ],
)
def test_other_lines_are_none(facility: str, text: str) -> None:
    assert not tells_of_a_loss(facility, text)


def test_every_line_is_passed_on(caplog: pytest.LogCaptureFixture) -> None:
    losses: list[int] = []
    watch = CoordinatorWatch(logging.getLogger("rdkafka"), lambda: losses.append(1))
    watch.log(logging.WARNING, "%s [%s] %s", "FAIL", "p-1", BROKEN)
    watch.log(logging.WARNING, "%s [%s] %s", "CONFWARN", "p-1", "a setting")
    assert losses == [1]
    assert [record.getMessage().split()[0] for record in caplog.records] == ["FAIL", "CONFWARN"]
