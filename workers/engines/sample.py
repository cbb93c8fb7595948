"""A small value that meets a JSON schema, for the simulated engine: the first choice everywhere, the shortest text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

#: A schema that refers to itself without end yields null below this.
DEPTH_MAX: Final = 32
#: ... and one that asks for more values than this gets null for the rest.
VALUES_MAX: Final = 2_000
#: Of all texts together.
CHARS_MAX: Final = 100_000


def sample(schema: Any) -> Any:
    """A value for `schema` (Draft 2020-12, the keywords that shape a value). Whether it is valid, a validator says."""
    return _Sampler(schema if isinstance(schema, Mapping) else {}).value(schema, 0)


class _Sampler:
    """One value. `root`: what references are seen from."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = VALUES_MAX
        self._chars_left = CHARS_MAX

    def value(self, schema: Any, depth: int) -> Any:
        self._left -= 1
        if not isinstance(schema, Mapping) or depth > DEPTH_MAX or self._left < 0:
            return None
        return self._chosen(schema, depth)

    def _chosen(self, schema: Mapping[str, Any], depth: int) -> Any:
        if "const" in schema:
            return schema["const"]
        if schema.get("enum"):
            return schema["enum"][0]
        if "$ref" in schema:
            return self.value(_resolve(schema["$ref"], self._root), depth + 1)
        for keyword in ("anyOf", "oneOf", "allOf"):
            if schema.get(keyword):
                merged = {**{k: v for k, v in schema.items() if k != keyword}, **_mapping(schema[keyword][0])}
                return self.value(merged, depth + 1)
        return self._of_type(_type(schema), schema, depth)

    def _of_type(self, kind: str, schema: Mapping[str, Any], depth: int) -> Any:
        if kind == "object":
            properties = _mapping(schema.get("properties"))
            names = schema.get("required", list(properties))
            return {name: self.value(properties.get(name, {}), depth + 1) for name in names}
        if kind == "array":
            return [
                self.value(schema.get("items", {}), depth + 1)
                for _ in range(self._count(schema, "minItems", 0, VALUES_MAX))
            ]
        if kind == "string":
            length = self._count(schema, "minLength", 1, self._chars_left)
            self._chars_left -= length
            return "x" * length
        if kind in ("integer", "number"):
            return _number(kind, schema)
        return {"boolean": True}.get(kind)

    @staticmethod
    def _count(schema: Mapping[str, Any], keyword: str, default: int, count_max: int) -> int:
        return min(max(int(schema.get(keyword, default)), 0), count_max)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _type(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0] if kind else None
    if isinstance(kind, str):
        return kind
    if "items" in schema:
        return "array"
    return "object" if "properties" in schema or "required" in schema else "string"


def _number(kind: str, schema: Mapping[str, Any]) -> float | int:
    low = schema.get("minimum", schema.get("exclusiveMinimum"))
    high = schema.get("maximum", schema.get("exclusiveMaximum"))
    if low is None:
        low = 0 if high is None or high > 0 else high - 1
    number = low + 1 if "exclusiveMinimum" in schema else low
    step = schema.get("multipleOf")
    if step:
        number = -(-number // step) * step
    return int(-(-number // 1)) if kind == "integer" else number


def _resolve(reference: Any, root: Mapping[str, Any]) -> Any:
    """`#/$defs/name` inside the schema; anything else is unknown here."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return {}
    place: Any = root
    for piece in filter(None, reference[1:].split("/")):
        place = _mapping(place).get(piece.replace("~1", "/").replace("~0", "~"))
    return place
