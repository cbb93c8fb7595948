"""How every scenario begins: an installation of its own with its roles running."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

from tests.chaos.inputs.mix import Mix
from tests.chaos.play.cluster import Cluster
from tests.chaos.play.installation import Installation, Shape
from tests.chaos.play.scene import MIX, SHAPE
from tests.chaos.play.stage import Stage, staged


@contextmanager
def prepared(
    cluster: Cluster,
    folder: Path,
    rng: Random,
    shape: Shape = SHAPE,
    mix: Mix = MIX,
    worker_module: Sequence[str] = ("stream", "worker"),
) -> Iterator[Stage]:
    """The shape's dispatchers and workers, on topics of their own; watchers are on."""
    prefix = f"chaos-{time.time_ns():x}."
    installation = Installation(prefix, folder, cluster.proxied, shape)
    with staged(cluster, installation, rng, mix) as stage:
        for slot in range(shape.dispatchers):
            stage.dispatcher(slot)
        for slot in range(shape.workers):
            stage.worker(slot, worker_module)
        for role in stage.roles.values():
            role.start()
        stage.open()
        yield stage
