"""A dead-letter topic that is gone, or may not be written, on a real Kafka: the worker stops and says so, loses nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from confluent_kafka.admin import AclOperation

from schemas.source import Source
from stream.errors import LogError, RightMissing
from tests.stream.worker.acl import forbid, forgive
from tests.stream.worker.installation import Installation

pytestmark = pytest.mark.broker


def put_good_and_bad(installation: Installation) -> list[Source]:
    """Half of them ask for a reply topic that does not exist."""
    missing = f"{installation.settings.prefix}replies.missing".encode()
    return installation.put(5) + installation.put(5, headers=[("headrace-reply-to", missing)])


def ended(installation: Installation) -> BaseException:
    """Why the worker that was started last stopped by itself."""
    [(_, thread)] = installation.workers
    thread.join(120)
    assert not thread.is_alive()
    installation.workers.clear()
    return installation.errors.pop()


def take_away(installation: Installation) -> None:
    installation.log.admin().delete([installation.settings.outputs.dead_letters], 30)


def deny(installation: Installation) -> None:
    letters = installation.settings.outputs.dead_letters
    forbid(AclOperation.WRITE, installation.place.bootstrap_servers, letters)


@pytest.mark.parametrize("spoil", [take_away, deny])
def test_it_ends_the_worker_with_an_alarm_and_the_next_one_answers_everything_once(
    installation: Installation, spoil: Callable[[Installation], None]
) -> None:
    letters = installation.settings.outputs.dead_letters
    before = installation.put(5)
    installation.start()
    installation.await_outputs(before)
    spoil(installation)
    sources = put_good_and_bad(installation)
    alarm = ended(installation)
    assert isinstance(alarm, LogError)
    assert "own topics" in str(alarm)
    if spoil is deny:
        installation.start()
        refusal = ended(installation)
        assert isinstance(refusal, RightMissing)
        assert f"no right to Write on topic {letters}: " in str(refusal)
        forgive(installation.place.bootstrap_servers, letters)
    installation.start()
    installation.await_outputs(before + sources)
    assert installation.sources_on(letters) == {str(source): 1 for source in sources[5:]}
    installation.end_cleanly()
