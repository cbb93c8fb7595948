"""Which errors of a role's start the next start would meet again."""

from __future__ import annotations

from typing import Final

from stream.errors import RightMissing, TopicMismatch
from workers.errors import EngineRefused

LASTING: Final = (EngineRefused, RightMissing, TopicMismatch)


def is_lasting(error: Exception) -> bool:
    """Nothing but a person mends it: a missing model, a wrong option, too little memory, topics, rights."""
    return isinstance(error, LASTING)
