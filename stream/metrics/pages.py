"""What a process answers over HTTP: its metrics, whether it lives, and whether it works. Everything else is 404."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple
from wsgiref.types import StartResponse

from prometheus_client import CollectorRegistry, make_wsgi_app

#: Why a process does not work now, in a sentence; None: it works.
Readiness = Callable[[], str | None]

TEXT: Final = ("Content-Type", "text/plain; charset=utf-8")


class Page(NamedTuple):
    """A short answer in words."""

    status: str
    words: str


def starting() -> str:
    """Until somebody knows better."""
    return "starting"


class Pages:
    """The WSGI application. `why_not_ready` is asked at each look at /readyz; it must not block."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._metrics = make_wsgi_app(registry)
        self.why_not_ready: Readiness = starting

    def __call__(self, environ: Mapping[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path == "/metrics":
            answer: Iterable[bytes] = self._metrics(environ, start_response)
            return answer
        page = self._page(path)
        start_response(page.status, [TEXT])
        return [f"{page.words}\n".encode()]

    def _page(self, path: str) -> Page:
        if path == "/livez":
            return Page("200 OK", "it lives")
        if path == "/readyz":
            why = self.why_not_ready()
            return Page("200 OK", "it works") if why is None else Page("503 Service Unavailable", why)
        return Page("404 Not Found", "there are /metrics, /livez and /readyz")
