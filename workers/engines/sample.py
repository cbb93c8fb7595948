"""A small value that meets a JSON schema, for the simulated engine: the first choice everywhere, the shortest text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

#: A schema that refers to itself without end yields null below this.
DEPTH_MAX: Final = 32


def sample(schema: Any, root: Mapping[str, Any] | None = None, depth: int = 0) -> Any:
    """A value for `schema` (Draft 2020-12, the keywords that shape a value). Whether it is valid, a validator says."""
    if not isinstance(schema, Mapping) or depth > DEPTH_MAX:
        return None
    root = schema if root is None else root
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    if "$ref" in schema:
        return sample(_resolve(schema["$ref"], root), root, depth + 1)
    for keyword in ("anyOf", "oneOf", "allOf"):
        if schema.get(keyword):
            merged = {**{k: v for k, v in schema.items() if k != keyword}, **_mapping(schema[keyword][0])}
            return sample(merged, root, depth + 1)
    return _of_type(_type(schema), schema, root, depth)


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


def _of_type(kind: str, schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    if kind == "object":
        properties = _mapping(schema.get("properties"))
        names = schema.get("required", list(properties))
        return {name: sample(properties.get(name, {}), root, depth + 1) for name in names}
    if kind == "array":
        return [
            sample(schema.get("items", {}), root, depth + 1) for _ in range(int(schema.get("minItems", 0)))
        ]
    if kind == "string":
        return "x" * max(int(schema.get("minLength", 1)), 0)
    if kind in ("integer", "number"):
        return _number(kind, schema)
    return {"boolean": True}.get(kind)


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
