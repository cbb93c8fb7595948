"""The batch's own reply topic: its name, and how it is made."""

from __future__ import annotations

from typing import Final

from stream.config.settings import OWN_BYTES_MAX, Settings
from stream.errors import UsageError
from stream.log.base import LogAdmin, TopicDescription

PARTITIONS: Final = 4
ASK_S: Final = 30.0


def reply_topic_name(settings: Settings, batch: str) -> str:
    """By the first pattern of `reply_topics` that leaves its end open; UsageError where none does."""
    for pattern in settings.outputs.reply_topics:
        if pattern.endswith("*") and "*" not in pattern[:-1] and not pattern.startswith("^"):
            return f"{pattern[:-1]}batch-{batch}"
    raise UsageError(
        "run-batch needs a reply topic of its own, and no pattern of [outputs] reply_topics allows one: add "
        f'"{settings.prefix}replies.*" to it'
    )


def create_reply_topic(admin: LogAdmin, settings: Settings, name: str) -> None:
    """Kept until the batch is read, however long that takes."""
    limits = settings.limits
    made = {
        "cleanup.policy": "delete",
        "retention.ms": "-1",
        "retention.bytes": "-1",
        "max.message.bytes": str(limits.value_bytes_max + limits.headers_bytes_max + OWN_BYTES_MAX),
    }
    admin.create([TopicDescription(name, PARTITIONS, made)], ASK_S)
