"""Which addresses a broker may have."""

from __future__ import annotations

import pytest

from stream.config.addresses import bootstrap_servers


@pytest.mark.parametrize(
    "servers", ["k:1", "10.0.0.1:9092", "[::1]:65535", "a.b:1, c-d:2", "SASL_SSL://k:9093,plaintext://k:9092"]
)
def test_what_librdkafka_takes_is_taken_as_it_stands(servers: str) -> None:
    assert bootstrap_servers(servers) == servers


@pytest.mark.parametrize(
    "servers", ["", "k", "k:", "k:0", "k:65536", "k:1,", "::1:9092", "k:1/x", "http://k:1"]
)
def test_all_else_is_refused(servers: str) -> None:
    with pytest.raises(ValueError, match=r"must be host:port|must not be empty"):
        bootstrap_servers(servers)
