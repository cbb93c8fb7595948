"""The batch's own folder beside its output: state, index, answers in the order they came."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from stream.errors import UsageError
from stream.run_batch.private import make_folder, open_private
from stream.run_batch.state import State, read_state, write_state

SUFFIX: Final = ".batch"


def folder_of(output: Path) -> Path:
    """`out.jsonl.batch`."""
    return output.with_name(output.name + SUFFIX)


def beside_of(output: Path) -> Path:
    """Where an output that appears whole or not at all is written first."""
    return output.with_name(f".{output.name}.new")


class BatchFolder:
    """`out.jsonl.batch`; gone when the batch is done."""

    def __init__(self, output: Path) -> None:
        self.path = folder_of(output)
        self.index = self.path / "index"
        #: Answers in the order they came, where the output has another.
        self.arrived = self.path / "arrived.jsonl"
        #: Answers in the order of the input, where the output is a table.
        self.cells = self.path / "cells.jsonl"
        #: Of an installation that the batch starts.
        self.config = self.path / "headrace.toml"
        self.installation = self.path / "installation"
        self._state = self.path / "batch.json"

    @contextmanager
    def held(self) -> Iterator[None]:
        """While the block runs, no other command works on this batch: UsageError for the other."""
        try:
            make_folder(self.path)
            descriptor = open_private(self.path / "lock")
        except OSError as wrong:
            raise UsageError(f"{self.path} cannot be used: {wrong.strerror}") from wrong
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise UsageError(f"another run-batch works on {self.path.name.removesuffix(SUFFIX)}") from None
        try:
            yield
        finally:
            self._leave_no_empty()
            os.close(descriptor)

    def read(self) -> State | None:
        return read_state(self._state)

    def write(self, state: State) -> None:
        write_state(self._state, state)

    def forget(self) -> None:
        """Everything of a batch that was begun, the installation that was its own included."""
        self._state.unlink(missing_ok=True)
        self.tidy()

    def tidy(self) -> None:
        """What a batch that is done needs no longer; its state goes last."""
        shutil.rmtree(self.installation, ignore_errors=True)
        for file in (self.index, self.arrived, self.cells, self.config, self._state):
            file.unlink(missing_ok=True)

    def _leave_no_empty(self) -> None:
        if self.path.exists() and {path.name for path in self.path.iterdir()} <= {"lock", self.config.name}:
            shutil.rmtree(self.path, ignore_errors=True)
