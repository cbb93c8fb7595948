"""Serving a process's metrics and health over HTTP, for Prometheus and whoever restarts processes."""

from __future__ import annotations

import errno
import logging
from socketserver import ThreadingMixIn
from threading import Thread
from typing import Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from stream.errors import StreamError
from stream.metrics.pages import Pages, Readiness
from stream.metrics.prometheus import PrometheusMetrics
from stream.processes.listener import listener_of

#: With a fixed port the roles of one machine take it and the next ones, at most so many.
PORTS_TRIED_MAX: Final = 64

LOOPBACK: Final = "127.0.0.1"
EVERYWHERE: Final = "0.0.0.0"

log = logging.getLogger(__name__)


class _Server(ThreadingMixIn, WSGIServer):
    """One slow reader holds up no other, nor the end of the process."""

    daemon_threads = True


class _Handler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class calls it so
        """A line for each look of a Prometheus would fill the log."""


class MetricsServer:
    """Metrics, and the url where they are served until `close`."""

    def __init__(self, metrics: PrometheusMetrics, server: WSGIServer, pages: Pages) -> None:
        self.metrics = metrics
        self._server = server
        self._pages = pages
        self._thread = Thread(target=server.serve_forever, name="metrics", daemon=True)
        self._thread.start()

    def ready_when(self, why_not: Readiness) -> None:
        """What /readyz asks from now on: None where the process works, else why it does not."""
        self._pages.why_not_ready = why_not

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


def serve_metrics(port: int, *, next_free: bool = True) -> MetricsServer:
    """Serve new metrics on `port`; StreamError when no port is to be had.

    0 takes a free port of the loopback interface. Any other is meant for a Prometheus on another machine, so
    all interfaces are served; where it is taken (several roles on one machine), the next free one above it, or
    none where `next_free` is false.
    """
    metrics = PrometheusMetrics()
    if port == 0:
        return _serve(metrics, 0, LOOPBACK)
    tried = PORTS_TRIED_MAX if next_free else 1
    for candidate in range(port, min(port + tried, 65_536)):
        try:
            return _serve(metrics, candidate, EVERYWHERE)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise StreamError(f"cannot serve metrics on port {candidate}: {error.strerror}") from error
            log.info("metrics port %d is taken", candidate)
    if not next_free:
        raise StreamError(
            f"[metrics] port = {port} is taken{listener_of(port)}: end that, choose another, or 0 for a free one"
        )
    raise StreamError(
        f"cannot serve metrics: ports {port} to {candidate} are all taken; set [metrics] port = 0"
    )


def _serve(metrics: PrometheusMetrics, port: int, address: str) -> MetricsServer:
    pages = Pages(metrics.registry)
    server = make_server(address, port, pages, _Server, _Handler)
    return MetricsServer(metrics, server, pages)
