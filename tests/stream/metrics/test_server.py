"""Serving metrics over HTTP."""

from __future__ import annotations

import os
import socket
import time
from contextlib import closing

import httpx
import pytest

from stream.errors import StreamError
from stream.metrics.server import EVERYWHERE, LOOPBACK, MetricsServer, serve_metrics


def test_port_zero_takes_a_free_port_of_the_loopback_interface() -> None:
    with closing(serve_metrics(0)) as server:
        server.metrics.count("headrace_restarts_total", role="worker")
        answer = httpx.get(server.url, timeout=30)
    assert server.url.startswith(f"http://{LOOPBACK}:")
    assert 'headrace_restarts_total{role="worker"} 1.0' in answer.text
    assert answer.headers["content-type"].startswith("text/plain")


def on_a_fixed_port() -> MetricsServer:
    """On the one it was told; another process may take a free port before it does, but not one after the other."""
    for _ in range(5):
        with closing(serve_metrics(0)) as probe:
            port = probe.port
        server = serve_metrics(port)
        if server.port == port:
            return server
        server.close()
    pytest.fail("a port that is free is not taken")


def test_two_roles_with_the_same_fixed_port_both_serve() -> None:
    with closing(on_a_fixed_port()) as first, closing(serve_metrics(first.port)) as second:
        assert second.port != first.port
        assert httpx.get(second.url, timeout=30).status_code == 200


def test_after_close_the_port_is_free() -> None:
    server = serve_metrics(0)
    server.close()
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind((LOOPBACK, server.port))


def hold(taken: socket.socket, port: int) -> None:
    """As soon as it is free: this test may run twice on one machine."""
    until = time.monotonic() + 60
    while True:
        try:
            taken.bind((EVERYWHERE, port))
            taken.listen()
        except OSError:
            assert time.monotonic() < until
            time.sleep(0.05)
        else:
            return


def test_no_port_at_all_is_one_clear_error() -> None:
    with socket.socket() as taken:
        hold(taken, 65_535)
        with pytest.raises(StreamError, match=r"ports 65535 to 65535 are all taken"):
            serve_metrics(65_535)


def test_readyz_says_why_a_process_does_not_work_and_livez_that_it_lives() -> None:
    with closing(serve_metrics(0)) as server:
        base = server.url.removesuffix("/metrics")
        first = httpx.get(f"{base}/readyz", timeout=30)
        assert (first.status_code, first.text) == (503, "starting\n")
        server.ready_when(lambda: "loading weights")
        assert httpx.get(f"{base}/readyz", timeout=30).text == "loading weights\n"
        assert httpx.get(f"{base}/livez", timeout=30).status_code == 200
        server.ready_when(lambda: None)
        assert httpx.get(f"{base}/readyz", timeout=30).status_code == 200


@pytest.mark.parametrize("path", ["/", "/metric", "/metrics/", "/favicon.ico"])
def test_any_other_page_is_404(path: str) -> None:
    with closing(serve_metrics(0)) as server:
        assert httpx.get(f"{server.url.removesuffix('/metrics')}{path}", timeout=30).status_code == 404


def test_a_port_that_must_be_this_one_and_is_taken_is_refused_with_who_has_it() -> None:
    with closing(on_a_fixed_port()) as first, pytest.raises(StreamError) as refused:
        serve_metrics(first.port, next_free=False)
    assert f"[metrics] port = {first.port} is taken by " in str(refused.value)
    assert f"(pid {os.getpid()})" in str(refused.value)
