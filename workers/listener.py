"""Who hears of what happens on the engine loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from workers.call import Finished
from workers.errors import EngineDead


class Listener(NamedTuple):
    """Called on the engine loop; none of these may block."""

    ended: Callable[[list[Finished]], None]
    engine_died: Callable[[EngineDead], None]
    crashed: Callable[[BaseException], None]
