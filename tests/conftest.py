"""What all tests share: one embedded broker a run, and names of their own on it."""

from __future__ import annotations

import itertools
import os
import signal
import uuid
from collections.abc import Callable, Iterator

import pytest

from stream.broker import EmbeddedBroker
from stream.errors import BrokerError
from tests.left_behind import left_behind, mark_this_run

TEST_PROPERTIES = {
    # Tests use shorter session timeouts than the broker's default minimum of 6 s.
    "group.min.session.timeout.ms": "1000",
    # Everybody may do everything until a test forbids it.
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
}

# Started in the background or under nohup, we would hand down "ignore" to the processes that tests send signals to.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(scope="session", autouse=True)
def nothing_is_left_running() -> Iterator[None]:
    """Made first, so ended last: what the run has started has ended by then."""
    mark = mark_this_run()
    yield
    assert left_behind(mark) == []


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    """A running broker, shared: use topics, groups and transactional ids of your own (`unique`), never stop it."""
    broker = EmbeddedBroker(tmp_path_factory.mktemp("kafka"), extra_properties=TEST_PROPERTIES)
    try:
        broker.start()
    except BrokerError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
    yield broker
    broker.stop()


@pytest.fixture
def unique() -> Callable[[str], str]:
    """Makes a name that no other test and no other run has: `unique("orders")` -> `orders-3f2a9c1d-0`."""
    run, count = uuid.uuid4().hex[:8], itertools.count()
    return lambda name: f"{name}-{run}-{next(count)}"
