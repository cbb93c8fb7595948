"""Faults on demand for the simulated engine: `body.metadata.simulate`, a comma list such as `sleep:0.5,transient:2`.

| directive | what happens |
| --- | --- |
| `sleep:SECONDS` | the answer takes so much longer |
| `transient:N` | the first N attempts of this process fail for a passing reason |
| `invalid_output:N` | the first N attempts of this process break their structure |
| `engine_dead:N` | the engine dies under the first N attempts of this process |
| `kill_process` | the process ends by SIGKILL |
| `hang` | the engine makes no further step, for this call and all others, until it is restarted |
| `reject` | the request is refused as invalid |
| `answer_bytes:N` | the answer's text has N bytes |
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Final

from schemas.failure import ErrorClass, Stage
from workers.errors import RequestRejected

#: Bounds what a record may ask of the simulation: an hour, and twice the largest record.
SLEEP_S_MAX: Final = 3_600.0
ANSWER_BYTES_MAX: Final = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Faults:
    """What a record asks of the simulated engine. Names are the directives."""

    sleep: float = 0.0
    transient: int = 0
    invalid_output: int = 0
    engine_dead: int = 0
    kill_process: bool = False
    hang: bool = False
    reject: bool = False
    answer_bytes: int | None = None

    @property
    def strike(self) -> bool:
        """Whether anything but the answer itself is changed."""
        return self is not NO_FAULTS and self != Faults(answer_bytes=self.answer_bytes)


NO_FAULTS: Final = Faults()
_NAMES: Final = frozenset(field.name for field in fields(Faults))
_FLAGS: Final = frozenset({"kill_process", "hang", "reject"})


@lru_cache(maxsize=1_024)
def parse_faults(text: str) -> Faults:
    """Read a list of directives. RequestRejected(invalid) names the one that cannot be read."""
    found: dict[str, float | int | bool] = {}
    for directive in filter(None, (piece.strip() for piece in text.split(","))):
        name, _, value = directive.partition(":")
        found[name] = _value(name, value, directive)
    return Faults(**found)  # type: ignore[arg-type]


def _value(name: str, value: str, directive: str) -> float | int | bool:
    if name not in _NAMES:
        raise _wrong(directive, f"none of {', '.join(sorted(_NAMES))}")
    if name in _FLAGS:
        return True
    try:
        number = float(value) if name == "sleep" else int(value)
    except ValueError as error:
        raise _wrong(directive, "not a number") from error
    if not 0 <= number <= (SLEEP_S_MAX if name == "sleep" else ANSWER_BYTES_MAX):
        raise _wrong(directive, "out of bounds")
    return number


def _wrong(directive: str, why: str) -> RequestRejected:
    text = f"$.body.metadata.simulate: {directive!r} is {why}"
    return RequestRejected(ErrorClass.INVALID, Stage.VALIDATE, text)
