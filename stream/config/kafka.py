"""`[kafka]`: a broker of somebody else's, or the port of the embedded one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from stream.config.addresses import PORT_MAX, bootstrap_servers
from stream.config.rules import text, whole
from stream.config.settings import KafkaSettings
from stream.config.table import Table

#: Client settings that the guarantee rests on: nobody else sets them.
CLIENT_KEYS_OWN: Final = re.compile(
    r"bootstrap\.servers|metadata\.broker\.list|group\..*|transactional\.id|transaction\..*|isolation\.level"
    r"|enable\..*|auto\..*|acks|request\.required\.acks|partition\.assignment\.strategy|.*_cb|client\.id"
)
#: Client settings that name files, as librdkafka has them.
CLIENT_FILES: Final = frozenset(
    {
        "ssl.ca.location",
        "ssl.certificate.location",
        "ssl.crl.location",
        "ssl.key.location",
        "ssl.keystore.location",
        "sasl.kerberos.keytab",
    }
)
#: librdkafka looks for the certificates of the machine itself.
PROBE: Final = "probe"


def read_kafka(root: Table, folder: Path) -> tuple[KafkaSettings | None, int | None]:
    """Somebody else's broker, or None and the embedded one's port where it is given. Paths are relative to `folder`."""
    table = root.below("kafka")
    if not root.has("kafka"):
        return None, None
    servers = table.take("bootstrap_servers", bootstrap_servers, None)
    port = table.take("port", whole(1, PORT_MAX), None)
    client = _read_client(table.below("client"), folder)
    table.close()
    if table.has("bootstrap_servers"):
        if table.has("port"):
            table.wrong("port", "is the embedded broker's: with bootstrap_servers there is none")
        return KafkaSettings(servers or "", client), None
    if table.has("port"):
        if table.has("client"):
            table.wrong("client", "is for a broker of your own: the embedded one needs no settings")
        return None, port
    table.wrong(
        "bootstrap_servers", 'is missing; leave [kafka] out for the embedded broker, or give its "port"'
    )
    return KafkaSettings("", client), None


def _read_client(client: Table, folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for key, _ in client.each_value():
        value = client.take(key, _client_value, "")
        found[key] = str(folder / value) if key in CLIENT_FILES and value not in {"", PROBE} else value
        if CLIENT_KEYS_OWN.fullmatch(key):
            client.wrong(key, "is set by Headrace: exactly-once rests on it")
    return found


def _client_value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return text()(value)
