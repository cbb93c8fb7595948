"""Whether librdkafka takes the client settings of a configuration, before anything is built on them."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from confluent_kafka import KafkaException, Producer

_LOG = logging.getLogger(__name__)


def client_problem(client: Mapping[str, str]) -> str | None:
    """librdkafka's words against them; None: it takes them. Without brokers nothing is connected to."""
    try:
        Producer(dict(client), logger=_LOG).close()
    except KafkaException as refused:
        return str(refused.args[0].str())
    return None
