"""A JSON schema without what the engine's compiler cannot enforce.

The engine is then held to the weaker schema, and the answer is judged by the whole one: a keyword that a compiler does
not know costs at most a retry, and not the request. What is dropped follows xgrammar 0.2.8 as vLLM 0.32 judges it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

#: Always dropped: no compiler's grammar can count, compare or repeat itself.
_NEVER: Final = frozenset(
    {
        "multipleOf",
        "uniqueItems",
        "contains",
        "minContains",
        "maxContains",
        "propertyNames",
        "unevaluatedProperties",
    }
)
_FORMATS: Final = frozenset(
    {
        *("email", "date", "time", "date-time", "duration", "ipv4", "ipv6", "hostname", "uuid"),
        *("uri", "uri-reference", "uri-template", "json-pointer", "relative-json-pointer"),
    }
)
#: Their values map names of the request's own to schemas: a property may be called `contains`.
_NAMED: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
#: Their values are data and not schemas.
_DATA: Final = frozenset({"const", "enum", "default", "examples", "required"})


@lru_cache(maxsize=256)
def relaxed(schema: str) -> str:
    """The schema, as JSON text, that the engine gets for `schema`; the same text where nothing must go."""
    whole = msgspec.json.decode(schema)
    weaker = _relax(whole)
    return schema if weaker == whole else msgspec.json.encode(weaker).decode()


def _relax(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_relax(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    dropped = _dropped(schema)
    return {key: _relax_value(key, value) for key, value in schema.items() if key not in dropped}


def _relax_value(key: str, value: Any) -> Any:
    if key in _DATA:
        return value
    if key in _NAMED and isinstance(value, Mapping):
        return {name: _relax(part) for name, part in value.items()}
    if key == "allOf" and isinstance(value, list):
        return [_relax(part) for part in value[:1]]
    return _relax(value)


def _dropped(schema: Mapping[str, Any]) -> frozenset[str]:
    dropped = _NEVER
    format_ = schema.get("format")
    if not (isinstance(format_, str) and format_ in _FORMATS):
        dropped |= {"format"}
    if "pattern" in schema or "format" in schema:
        dropped |= {"minLength", "maxLength"}
    patterns = schema.get("patternProperties")
    if "properties" in schema or (isinstance(patterns, Mapping) and len(patterns) > 1):
        dropped |= {"patternProperties"}
    return dropped
