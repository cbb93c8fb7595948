"""Addresses of Kafka brokers, as a configuration gives them."""

from __future__ import annotations

import re
from typing import Final

from stream.config.rules import text

PORT_MAX: Final = 65_535
#: A name, an IPv4 address, or an IPv6 address in brackets; Kafka's protocols may stand before it.
_ADDRESS: Final = re.compile(
    r"(?:(?:plaintext|ssl|sasl_plaintext|sasl_ssl)://)?(?:[^\s,:/\[\]]+|\[[0-9a-fA-F:.]+\]):([0-9]{1,5})",
    re.IGNORECASE,
)


def bootstrap_servers(value: object) -> str:
    """A rule: one address or several with commas, as they were given."""
    taken = text()(value)
    for address in taken.split(","):
        found = _ADDRESS.fullmatch(address.strip())
        if found is None or not 1 <= int(found.group(1)) <= PORT_MAX:
            raise ValueError(
                f'must be host:port with a port from 1 to {PORT_MAX}, several with commas, not "{address.strip()}"'
            )
    return taken
