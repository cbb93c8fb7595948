"""Whether librdkafka takes the client settings of a configuration, before anything is built on them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from confluent_kafka import KafkaException, Producer

_LOG = logging.getLogger(__name__)
#: Syslog's "error". This client has no brokers, and would warn of that; what else it warns of, the real ones do too.
LOG_LEVEL: Final = "3"


def client_problem(client: Mapping[str, str]) -> str | None:
    """librdkafka's words against them; None: it takes them. Without brokers nothing is connected to."""
    try:
        Producer({"log_level": LOG_LEVEL, **client}, logger=_LOG).close()
    except KafkaException as refused:
        return str(refused.args[0].str())
    return None
