"""What an engine's start raised, as ours: told apart by whether another try can help."""

from __future__ import annotations

from typing import Final

from workers.errors import EngineRefused, EngineStartError

#: vLLM and its checks say so to wrong options and to models that they do not know; pydantic's errors are among them.
LASTING: Final = (ValueError, TypeError, NotImplementedError, MemoryError)
#: By name: torch and the hub's client need not be there. Their bases would take too much.
LASTING_NAMES: Final = frozenset({"OutOfMemoryError", "RepositoryNotFoundError", "GatedRepoError"})


def start_error(endpoint: str, error: Exception) -> EngineStartError:
    """EngineRefused where the next start would end in the same way."""
    kind = EngineRefused if is_lasting(error) else EngineStartError
    return kind(f"endpoint {endpoint}: {type(error).__name__}: {error}")


def is_lasting(error: Exception) -> bool:
    """Whether the same start would meet it again."""
    names = {each.__name__ for each in type(error).__mro__}
    return isinstance(error, LASTING) or bool(names & LASTING_NAMES)
