"""Whether librdkafka takes the client settings of a configuration, before anything is built on them."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from confluent_kafka import KafkaException, Producer

_LOG = logging.getLogger(__name__)
#: Syslog's "error". This client has no brokers, and would warn of that; what else it warns of, the real ones do too.
LOG_LEVEL: Final = "3"
#: How a refusal begins that is about one setting, not about what it wants beside it.
OF_ONE: Final = ("No such configuration property", "Invalid value", "Configuration property")


def client_problems(client: Mapping[str, str]) -> list[str]:
    """librdkafka's words against each of them; against all of them together where each alone is right."""
    alone = [_problem({name: value}) for name, value in client.items()]
    found = [problem for problem in alone if problem is not None and problem.startswith(OF_ONE)]
    together = None if found else _problem(client)
    return found if together is None else [together]


def _problem(client: Mapping[str, str]) -> str | None:
    """None: it takes them. Without brokers nothing is connected to."""
    try:
        Producer({"log_level": LOG_LEVEL, **client}, logger=_LOG).close()
    except KafkaException as refused:
        return str(refused.args[0].str()).strip()
    return None
