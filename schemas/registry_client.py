"""One question to a schema registry over HTTP, bounded in time and size."""

from __future__ import annotations

import re
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import quote

import httpx
import msgspec

from schemas.errors import RegistryUnavailable, SchemaUnknown

#: The registry's code for "no such schema", next to the HTTP status 404 (Confluent API reference).
SCHEMA_NOT_FOUND: Final = 40403
#: JAX-RS's code for a path that does not exist: the url is wrong, not the id.
PATH_NOT_FOUND: Final = 404
AVRO: Final = "AVRO"


class Fetched(NamedTuple):
    """A schema's text and the texts it refers to, each after those it uses itself."""

    text: str
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClientRules:
    """Bounds of one question."""

    #: For the whole answer, not for one read of it.
    timeout_s: float = 2
    #: Far above what a registry keeps (a record of its own topic), for what is longer makes its readers wait for ever.
    answer_bytes_max: int = 16 * 1024 * 1024
    references_max: int = 100


DEFAULT_RULES: Final = ClientRules()


class _Reference(msgspec.Struct, frozen=True):
    subject: str
    version: int


class _Answer(msgspec.Struct, frozen=True, rename={"kind": "schemaType"}):
    schema: str
    kind: str | None = None
    references: list[_Reference] | None = None


class _Refusal(msgspec.Struct, frozen=True):
    error_code: int = SCHEMA_NOT_FOUND


class RegistryClient:
    """Asks `GET /schemas/ids/{id}`. `clock` gives monotonic seconds; certificates are the system's."""

    def __init__(self, url: str, clock: Callable[[], float], rules: ClientRules = DEFAULT_RULES) -> None:
        self._url = url.rstrip("/")
        #: For messages: without user and password.
        self._shown = re.sub(r"//[^/@]*@", "//", self._url)
        self._clock = clock
        self._rules = rules
        self._certificates = ssl.create_default_context()
        self._closed = False

    def fetch(self, schema_id: int) -> Fetched:
        """Raises SchemaUnknown, or RegistryUnavailable for everything that is not a registry's clear answer."""
        answer = self._ask(f"/schemas/ids/{schema_id}")
        if (answer.kind or AVRO) != AVRO:
            raise SchemaUnknown(f"is a {answer.kind} schema; only {AVRO} is read")
        found: dict[str, str] = {}
        self._collect(answer, found, self._rules.references_max)
        return Fetched(answer.schema, tuple(found.values()))

    def close(self) -> None:
        """No question is asked any more; may be called from another thread while one is under way."""
        self._closed = True

    def _collect(self, answer: _Answer, found: dict[str, str], depth_left: int) -> None:
        """Depth first, so that each text comes after those it uses."""
        for reference in answer.references or ():
            path = f"/subjects/{quote(reference.subject, safe='')}/versions/{reference.version}"
            if path in found:
                continue
            if depth_left == 0 or len(found) >= self._rules.references_max:
                raise SchemaUnknown(f"refers to more than {self._rules.references_max} schemas")
            used = self._ask(path)
            self._collect(used, found, depth_left - 1)
            found[path] = used.schema

    def _ask(self, path: str) -> _Answer:
        status, content = self._get(path)
        if status == httpx.codes.OK:
            try:
                return msgspec.json.decode(content, type=_Answer)
            except (msgspec.DecodeError, RecursionError) as error:
                raise self._unavailable(path, f"not a schema registry's answer: {error}") from error
        if status == httpx.codes.NOT_FOUND and _means_unknown(content):
            raise SchemaUnknown("the registry does not know it")
        raise self._unavailable(path, f"answered {status}; is registry.url right?")

    def _get(self, path: str) -> tuple[int, bytes]:
        if self._closed:
            raise self._unavailable(path, "is not asked any more")
        late = threading.Event()
        # A connection of its own: httpx bounds each read, and a header that trickles in has many.
        with httpx.Client(timeout=self._rules.timeout_s, verify=self._certificates, trust_env=False) as http:
            watch = threading.Timer(self._rules.timeout_s, _give_up, (http, late))
            watch.daemon = True
            watch.start()
            try:
                return self._read(http, path)
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise self._unavailable(path, f"{type(error).__name__} {error}") from error
            except Exception as error:
                if late.is_set():  # a socket that is closed under a reader fails in many ways
                    raise self._unavailable(path, "the answer is too slow") from error
                raise
            finally:
                watch.cancel()

    def _read(self, http: httpx.Client, path: str) -> tuple[int, bytes]:
        until = self._clock() + self._rules.timeout_s
        content = bytearray()
        with http.stream("GET", self._url + path) as response:
            for piece in response.iter_bytes():
                content += piece
                if self._clock() > until or len(content) > self._rules.answer_bytes_max:
                    raise self._unavailable(path, "the answer is too slow or too long")
            return response.status_code, bytes(content)

    def _unavailable(self, path: str, why: str) -> RegistryUnavailable:
        return RegistryUnavailable(f"schema registry {self._shown}{path}: {why}")


def _give_up(http: httpx.Client, late: threading.Event) -> None:
    late.set()
    http.close()


def _means_unknown(content: bytes) -> bool:
    """A 404 that speaks of the id. A web page, or the code of a missing path, says that the url is wrong."""
    if not content:
        return True
    try:
        return msgspec.json.decode(content, type=_Refusal).error_code != PATH_NOT_FOUND
    except (msgspec.DecodeError, RecursionError):
        return False
