"""Serving a process's metrics over HTTP, where Prometheus fetches them."""

from __future__ import annotations

import errno
import logging
from threading import Thread
from typing import Final
from wsgiref.simple_server import WSGIServer

from prometheus_client import start_http_server

from stream.errors import StreamError
from stream.metrics.prometheus import PrometheusMetrics

#: With a fixed port the roles of one machine take it and the next ones, at most so many.
PORTS_TRIED_MAX: Final = 64

LOOPBACK: Final = "127.0.0.1"
EVERYWHERE: Final = "0.0.0.0"

log = logging.getLogger(__name__)


class MetricsServer:
    """Metrics, and the url where they are served until `close`."""

    def __init__(self, metrics: PrometheusMetrics, server: WSGIServer, thread: Thread) -> None:
        self.metrics = metrics
        self._server = server
        self._thread = thread

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}/metrics"

    def close(self) -> None:
        """Stop serving and free the port. Once."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def serve_metrics(port: int) -> MetricsServer:
    """Serve new metrics on `port`; StreamError when no port is to be had.

    0 takes a free port of the loopback interface. Any other is meant for a Prometheus on another machine, so
    all interfaces are served; where it is taken (several roles on one machine), the next free one above it.
    """
    metrics = PrometheusMetrics()
    if port == 0:
        return _serve(metrics, 0, LOOPBACK)
    for candidate in range(port, min(port + PORTS_TRIED_MAX, 65_536)):
        try:
            return _serve(metrics, candidate, EVERYWHERE)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise StreamError(f"cannot serve metrics on port {candidate}: {error.strerror}") from error
            log.info("metrics port %d is taken, trying the next", candidate)
    raise StreamError(
        f"cannot serve metrics: ports {port} to {candidate} are all taken; set [metrics] port = 0"
    )


def _serve(metrics: PrometheusMetrics, port: int, address: str) -> MetricsServer:
    server, thread = start_http_server(port, address, metrics.registry)
    return MetricsServer(metrics, server, thread)
