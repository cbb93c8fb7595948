"""One question to a schema registry over HTTP, bounded in time and size."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import httpx
import msgspec

from schemas.errors import RegistryUnavailable, SchemasError
from schemas.json_text import DEPTH_MAX, deeper_than

#: The registry's code for "no such schema", next to the HTTP status 404 (Confluent API reference).
SCHEMA_NOT_FOUND: Final = 40403
#: JAX-RS's code for a path that does not exist: the url is wrong, not the id.
PATH_NOT_FOUND: Final = 404


class SchemaUnknown(SchemasError):
    """The registry answered that it has no such Avro schema."""


class Fetched(NamedTuple):
    """A schema's text and the texts it refers to, each after those it uses itself."""

    text: str
    references: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ClientRules:
    """Bounds of one question."""

    #: For the whole answer, not for one read of it.
    timeout_s: float = 2
    answer_bytes_max: int = 1024 * 1024
    references_max: int = 100


DEFAULT_RULES: Final = ClientRules()


class RegistryClient:
    """Asks `GET /schemas/ids/{id}`. `clock` gives monotonic seconds."""

    def __init__(
        self,
        url: str,
        clock: Callable[[], float],
        rules: ClientRules = DEFAULT_RULES,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._url = url.rstrip("/")
        self._clock = clock
        self._rules = rules
        self._http = httpx.Client(timeout=rules.timeout_s, transport=transport)

    def fetch(self, schema_id: int) -> Fetched:
        """Raises SchemaUnknown, or RegistryUnavailable for everything that is not a registry's clear answer."""
        answer = self._ask(f"/schemas/ids/{schema_id}")
        kind = answer.get("schemaType") or "AVRO"
        if kind != "AVRO":
            raise SchemaUnknown(f"is a {kind} schema; only AVRO is read")
        references: dict[str, str] = {}
        self._collect(answer, references)
        return Fetched(self._text(answer), tuple(references.values()))

    def close(self) -> None:
        self._http.close()

    def _collect(self, answer: dict[str, Any], found: dict[str, str], depth: int = 0) -> None:
        """Depth first, so that each text comes after those it uses."""
        for reference in answer.get("references") or ():
            path = f"/subjects/{reference['subject']}/versions/{reference['version']}"
            if path in found:
                continue
            if depth >= DEPTH_MAX or len(found) >= self._rules.references_max:
                raise SchemaUnknown(f"refers to more than {self._rules.references_max} schemas")
            used = self._ask(path)
            self._collect(used, found, depth + 1)
            found[path] = self._text(used)

    def _text(self, answer: dict[str, Any]) -> str:
        text = answer.get("schema")
        if not isinstance(text, str):
            raise RegistryUnavailable(f"{self._url}: an answer without a schema; is it a schema registry?")
        return text

    def _ask(self, path: str) -> dict[str, Any]:
        status, content = self._get(path)
        answer = _object(content)
        if status == httpx.codes.OK and answer is not None:
            return answer
        if status == httpx.codes.NOT_FOUND and _means_unknown(content, answer):
            raise SchemaUnknown("the registry does not know it")
        raise RegistryUnavailable(
            f"{self._url}{path}: answered {status}; a schema registry's answer is needed"
        )

    def _get(self, path: str) -> tuple[int, bytes]:
        until = self._clock() + self._rules.timeout_s
        content = bytearray()
        try:
            with self._http.stream("GET", self._url + path) as response:
                for piece in response.iter_bytes():
                    content += piece
                    if self._clock() > until or len(content) > self._rules.answer_bytes_max:
                        raise RegistryUnavailable(f"{self._url}{path}: the answer is too slow or too long")
                return response.status_code, bytes(content)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise RegistryUnavailable(f"{self._url}{path}: {type(error).__name__} {error}") from error


def _object(content: bytes) -> dict[str, Any] | None:
    if deeper_than(content, DEPTH_MAX):
        return None
    try:
        answer = msgspec.json.decode(content)
    except msgspec.DecodeError:
        return None
    return answer if isinstance(answer, dict) else None


def _means_unknown(content: bytes, answer: dict[str, Any] | None) -> bool:
    """A 404 that speaks of the id. A web page, or the code of a missing path, says that the url is wrong."""
    if not content:
        return True
    return answer is not None and answer.get("error_code", SCHEMA_NOT_FOUND) != PATH_NOT_FOUND
