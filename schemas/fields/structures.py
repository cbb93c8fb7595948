"""The fields of what says how an answer must be built, and of other objects in a body."""

from __future__ import annotations

from typing import Final

from schemas.fields.level import Level, honoured, refused
from schemas.limits import PATTERN_TOKENS_MAX

_ENDPOINT_SAYS: Final = "structures are compiled as the endpoint is set up; leave it out"

RESPONSE_FORMAT: Final = Level(
    "response_format",
    {
        "type": honoured("text, json_object or json_schema"),
        "json_schema": honoured('an object {"name": …, "schema": {…}}'),
        "structures": refused("structural tags are not in this version; give json_schema"),
        "triggers": refused("structural tags are not in this version; give json_schema"),
        "format": refused("structural tags are not in this version; give json_schema"),
    },
)
JSON_SCHEMA: Final = Level(
    "response_format.json_schema",
    {
        "name": honoured("text"),
        "description": honoured("text"),
        "schema": honoured("a JSON schema; its own fields are read by the engine"),
        "strict": honoured("true or false; answers follow the schema either way"),
    },
)
STRUCTURED_OUTPUTS: Final = Level(
    "structured_outputs",
    {
        "choice": honoured("a list of 1 to 1000 non-empty texts"),
        "regex": honoured("non-empty text"),
        "grammar": honoured("non-empty text"),
        "json": honoured("a JSON schema: an object, or its JSON text"),
        "json_object": honoured("true"),
        "structural_tag": refused("structural tags are not in this version; give json or grammar"),
        "disable_any_whitespace": refused(_ENDPOINT_SAYS, False),
        "disable_additional_properties": refused("write additionalProperties: false in the schema", False),
        "whitespace_pattern": refused(_ENDPOINT_SAYS),
        "_backend": refused(_ENDPOINT_SAYS),
        "_backend_was_auto": refused(_ENDPOINT_SAYS),
    },
)
CHAT_TEMPLATE_KWARGS: Final = Level(
    "chat_template_kwargs",
    {
        "enable_thinking": honoured("true or false"),
        "thinking": honoured("true or false"),
        "chat_template": refused("it is a program that would run here; the endpoint's model has one"),
    },
    closed="others would reach the renderer's own arguments; only enable_thinking and thinking are given on",
)
_PATTERN: Final = f"a whole number from 0 to {PATTERN_TOKENS_MAX}"
REPETITION_DETECTION: Final = Level(
    "repetition_detection",
    {
        "max_pattern_size": honoured(_PATTERN),
        "min_pattern_size": honoured(_PATTERN + ", at most max_pattern_size"),
        "min_count": honoured("a whole number from 2"),
    },
)
#: Keys with a meaning; others have none.
METADATA: Final = Level(
    "metadata",
    {
        "tenant": honoured("text: whose the record is, where the input is not bound to a tenant"),
        "simulate": honoured("text: faults on demand, of the simulated engine"),
    },
)
