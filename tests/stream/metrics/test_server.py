"""Serving metrics over HTTP."""

from __future__ import annotations

import socket
from contextlib import closing

import httpx
import pytest

from stream.errors import StreamError
from stream.metrics.server import EVERYWHERE, LOOPBACK, serve_metrics


def test_port_zero_takes_a_free_port_of_the_loopback_interface() -> None:
    with closing(serve_metrics(0)) as server:
        server.metrics.count("headrace_restarts_total", role="worker")
        answer = httpx.get(server.url, timeout=5)
    assert server.url.startswith(f"http://{LOOPBACK}:")
    assert 'headrace_restarts_total{role="worker"} 1.0' in answer.text
    assert answer.headers["content-type"].startswith("text/plain")


def test_two_roles_with_the_same_fixed_port_both_serve() -> None:
    with closing(serve_metrics(0)) as probe:
        port = probe.port
    with closing(serve_metrics(port)) as first, closing(serve_metrics(port)) as second:
        assert first.port == port
        assert second.port != port
        assert httpx.get(second.url, timeout=5).status_code == 200


def test_after_close_the_port_is_free() -> None:
    server = serve_metrics(0)
    server.close()
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind((LOOPBACK, server.port))


def test_no_port_at_all_is_one_clear_error() -> None:
    with socket.socket() as taken:
        taken.bind((EVERYWHERE, 65_535))
        taken.listen()
        with pytest.raises(StreamError, match=r"ports 65535 to 65535 are all taken"):
            serve_metrics(65_535)
