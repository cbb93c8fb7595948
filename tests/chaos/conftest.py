"""One broker with its proxy for all chaos scenarios of a run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random

import pytest

from stream.errors import BrokerError
from tests.chaos.play.cluster import Cluster, running_cluster


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Scenarios may kill and restart it; each leaves it running."""
    try:
        with running_cluster(tmp_path_factory.mktemp("chaos-broker"), Random()) as cluster:
            yield cluster
    except BrokerError as error:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(error))
