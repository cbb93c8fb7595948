"""Whether the input is still the file that the batch began with; where it is not, the batch ends for good."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from stream.errors import StreamError, UsageError
from stream.run_batch.fingerprint import fingerprint
from stream.run_batch.folder import BatchFolder
from stream.run_batch.state import State


class InputChanged(StreamError):
    """The rows that were asked may not be those of the file: answers stay where they are, and join nothing."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} changed while the batch ran, so nobody can say which rows were asked: what was answered is kept, "
            "but it is no result; start over with --fresh, and leave the input alone while it runs"
        )


def check_unchanged(path: Path, state: State) -> None:
    """InputChanged where the file is another one, or gone."""
    if not path.is_file() or fingerprint(path) != state.fingerprint:
        raise InputChanged(path)


@contextmanager
def change_written_down(path: Path, folder: BatchFolder) -> Iterator[None]:
    """A batch whose input changed is never gone on with, even where the old content is put back."""
    try:
        yield
    except (InputChanged, UsageError) as wrong:
        state = folder.read()
        if state is None:
            raise
        try:
            check_unchanged(path, state)
        except InputChanged as changed:
            folder.write(msgspec.structs.replace(state, changed=True))
            raise changed from wrong
        raise
