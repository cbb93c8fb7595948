"""Whether the brokers take our login, asked once before anything else: a refused one is said at once, in its own words.

librdkafka goes on trying a login that was refused, and every call in the meantime only says that no broker answers. What
it reports besides, as an event of the client (seen on Kafka 4): `_AUTHENTICATION` for a wrong name or password and for a
mechanism that the brokers do not have, `_SSL` for a certificate that is not trusted.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from stream.errors import LoginRefused
from stream.log.kafka.settings import Settings, admin_settings

_LOG = logging.getLogger(__name__)
#: A broker that says nothing by then is somebody else's to tell of.
LOGIN_S: Final = 5.0
TRY_S: Final = 0.5
_REFUSING: Final = (KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED, KafkaError._SSL)


class Client(Protocol):
    """Of an admin client, what is asked."""

    def list_topics(self, topic: str | None = None, timeout: float = -1) -> object: ...
    def poll(self, timeout: float) -> int: ...


def check_login(
    bootstrap_servers: str,
    client: Mapping[str, str],
    *,
    connect: Callable[[Settings], Client] | None = None,
    clock_s: Callable[[], float] = time.monotonic,
) -> None:
    """LoginRefused with the brokers' words. Nothing is asked where `client` has no login."""
    if client.get("security.protocol", "plaintext").lower() == "plaintext":
        return
    refusals: list[KafkaError] = []
    settings: Settings = {**admin_settings(bootstrap_servers, client), "error_cb": refusals.append}  # type: ignore[dict-item]
    asking = (connect or _connect)(settings)
    until_s = clock_s() + LOGIN_S
    while clock_s() < until_s:
        try:
            asking.list_topics(timeout=TRY_S)
        except KafkaException:
            asking.poll(0)
            refused = next((error for error in refusals if error.code() in _REFUSING), None)
            if refused is not None:
                raise LoginRefused(_words(bootstrap_servers, client, refused)) from None
        else:
            return


def _connect(settings: Settings) -> Client:
    client: Client = AdminClient(settings, logger=_LOG)
    return client


def _words(bootstrap_servers: str, client: Mapping[str, str], refused: KafkaError) -> str:
    if refused.code() == KafkaError._SSL:
        return f"no safe connection to the broker at {bootstrap_servers}: {refused.str()}; see ssl.* in [kafka] client"
    mechanism = client.get("sasl.mechanism", client.get("sasl.mechanisms", "GSSAPI"))
    name = client.get("sasl.username")
    user = "" if name is None else f" of {name!r}"
    return (
        f"the broker at {bootstrap_servers} refuses the login{user} by {mechanism}: {refused.str()}; "
        "see sasl.mechanism, sasl.username and sasl.password in [kafka] client"
    )
