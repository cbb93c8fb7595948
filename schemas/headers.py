"""Names of the record headers, and their type as Kafka clients give and take it."""

from __future__ import annotations

from typing import Final

Header = tuple[str, bytes | None]
Headers = list[Header]

#: All control and service headers begin so.
OWN_PREFIX: Final = "headrace-"
#: A producer's control header NAME travels as headrace-in.NAME on work records and dead letters.
KEPT_PREFIX: Final = "headrace-in."
#: Kafka's own names for what a dead letter tells (KIP-1191).
DLQ_PREFIX: Final = "__dlq.errors."

# What a producer may set (control headers).
SESSION: Final = "headrace-session"
TENANT: Final = "headrace-tenant"
LANE: Final = "headrace-lane"
DEADLINE: Final = "headrace-deadline-ms"
REPLY_TO: Final = "headrace-reply-to"
ERRORS: Final = "headrace-errors"
ORDER: Final = "headrace-order"

# What the service sets.
VERSION: Final = "headrace-version"
SOURCE: Final = "headrace-source"
SOURCE_TIMESTAMP: Final = "headrace-source-timestamp"
ROUTE: Final = "headrace-route"
ENDPOINT: Final = "headrace-endpoint"
FORMAT: Final = "headrace-format"
REPLAY: Final = "headrace-replay"
SLICE: Final = "headrace-slice"
MAP: Final = "headrace-map"
ATTEMPTS: Final = "headrace-attempts"
ERROR_CLASS: Final = "headrace-error-class"
STAGE: Final = "headrace-stage"
RETRY_AFTER: Final = "headrace-retry-after-ms"
VALUE_OMITTED: Final = "headrace-value-omitted"

#: The version of all record formats. A reader that meets a higher one refuses the partition and says so.
FORMAT_VERSION: Final = 1
