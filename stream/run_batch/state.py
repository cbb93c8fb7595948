"""How far a batch is. The form is private: only the version that wrote it reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec

from stream.errors import UsageError
from stream.run_batch.fingerprint import Fingerprint
from stream.run_batch.private import replace_bytes
from stream.run_batch.row import Mark

VERSION: Final = 1


class Sizes(msgspec.Struct, frozen=True, array_like=True):
    """Bytes of two files that belong to a state: whatever is beyond them was written after it."""

    answers: int = 0
    errors: int = 0

    @property
    def both(self) -> tuple[int, int]:
        return self.answers, self.errors


class State(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the same command needs to go on."""

    version: int = VERSION
    #: Names the batch on its records.
    batch: str
    input: str
    fingerprint: Fingerprint
    rows: int
    #: The options that shape records and files: others would make another batch.
    options: dict[str, str | None]
    topic: str
    reply_topic: str
    #: Of the installation; `own`: the batch started it.
    state_dir: str
    own: bool
    #: Of an installation of its own; None: the built-in one.
    config: str | None
    #: topic/partition -> the next offset to read.
    positions: dict[str, int]
    sent: Mark = Mark()
    #: Rows whose outcome is an error.
    failed: int = 0
    #: Of the files that answers go to as they come.
    sizes: Sizes = Sizes()
    #: Rows that stand in the output in their order, and the files they stand in.
    ordered: int = 0
    ordered_sizes: Sizes = Sizes()
    #: The input changed while it was read: nobody knows which rows were asked. Only --fresh helps.
    changed: bool = False
    #: Nothing is left but to tidy up.
    done: bool = False


def read_state(path: Path) -> State | None:
    """None where no batch was begun; UsageError for the state of another version."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=State)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as wrong:
        raise UsageError(
            f"{path} is no state that this version can go on from ({wrong}): finish with the version that wrote it, "
            "or start over with --fresh"
        ) from wrong


def write_state(path: Path, state: State) -> None:
    replace_bytes(path, msgspec.json.encode(state))
