"""A batch that is begun, or gone on with: never one that changed in between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from uuid import uuid4

from stream.client.topic_names import input_topic_name
from stream.config.settings import Settings
from stream.errors import UsageError
from stream.log.base import Log, Partition
from stream.run_batch.chosen import Chosen
from stream.run_batch.files import refuse_shortened
from stream.run_batch.fingerprint import Fingerprint, fingerprint
from stream.run_batch.folder import BatchFolder
from stream.run_batch.reply_topic import PARTITIONS, create_reply_topic, reply_topic_name
from stream.run_batch.state import State
from stream.run_batch.wanted import Wanted

ASK_S: Final = 30.0
_BATCH_CHARS: Final = 12


def take_up(wanted: Wanted, folder: BatchFolder, *, fresh: bool) -> State | None:
    """The state to go on from; None: a new batch. UsageError where going on, or beginning, would spoil something."""
    if fresh:
        folder.forget()
        for path in (wanted.output, wanted.errors):
            if path is not None:
                path.unlink(missing_ok=True)
        return None
    state = folder.read()
    if state is None:
        for path in (wanted.output, wanted.errors):
            if path is not None and path.exists():
                raise UsageError(
                    f"{path} exists, and no batch stopped in it: take another, or --fresh to write it anew"
                )
        return None
    if state.changed:
        raise UsageError(
            f"{wanted.input} changed while this batch ran, so nobody can say which rows were asked: start over with "
            "--fresh"
        )
    refuse_shortened(wanted, folder, state)
    if not state.done:
        _refuse_changed(state, fingerprint(wanted.input), wanted)
    return state


def _refuse_changed(state: State, found: Fingerprint, wanted: Wanted) -> None:
    if found != state.fingerprint:
        raise UsageError(
            f"{wanted.input} is not what it was when this batch began ({state.fingerprint.bytes:,} bytes then, "
            f"{found.bytes:,} now): put the old content back, take another -o, or start over with --fresh"
        )
    if (changed := _differences(state.options, wanted.shape)) is not None:
        raise UsageError(
            f"this batch began with {changed}: go on with the same options, or start over with --fresh"
        )


def _differences(old: Mapping[str, str | None], new: Mapping[str, str | None]) -> str | None:
    """The first option that is not what it was, in words."""
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            option = "--" + name.replace("_", "-")
            was = f"{option} {old[name]}" if name in old else f"no {option}"
            return f"{was}, not {new.get(name, 'without it')}"
    return None


def begin(wanted: Wanted, chosen: Chosen, log: Log, rows: int, found: Fingerprint) -> State:
    """A new batch: its topic is made, where its answers begin is known, before a record is sent. `found`: before `rows` were."""
    settings = chosen.installation.settings
    batch = uuid4().hex[:_BATCH_CHARS]
    reply = reply_topic_name(settings, batch)
    admin = log.admin()
    create_reply_topic(admin, settings, reply)
    positions = {f"{reply}/{number}": 0 for number in range(PARTITIONS)}
    return State(
        batch=batch,
        input=str(wanted.input.absolute()),
        fingerprint=found,
        rows=rows,
        options=wanted.shape,
        topic=input_topic_name(settings, wanted.topic),
        reply_topic=reply,
        state_dir=str(chosen.installation.state_dir.absolute()),
        own=chosen.own,
        config=None if chosen.config is None else str(chosen.config),
        positions={**positions, **_ends_of_dead_letters(log, settings)},
    )


def _ends_of_dead_letters(log: Log, settings: Settings) -> dict[str, int]:
    """What cannot travel as a result is a dead letter, and comes after these."""
    topic = settings.outputs.dead_letters
    count = log.admin().topics(ASK_S)[topic]
    ends = log.admin().stable_ends([Partition(topic, number) for number in range(count)], ASK_S)
    return {f"{place.topic}/{place.partition}": offset for place, offset in ends.items()}
