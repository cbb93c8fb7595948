"""A client's own events: lost connections, fatal states."""

from __future__ import annotations

import logging

from confluent_kafka import KafkaError

_LOG = logging.getLogger(__name__)


def log_event(error: KafkaError) -> None:
    """Fatal ones do not come here: the binding raises them out of whatever call serves its events."""
    _LOG.warning("%s (%s)", error.str(), error.name())
