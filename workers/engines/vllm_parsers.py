"""Which of vLLM's parsers read an endpoint's answers: for tool calls, and for reasoning."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from vllm.entrypoints.generate.base.protocol import ExtractedToolCallInformation
from vllm.reasoning import ReasoningParserManager
from vllm.tool_parsers import ToolParserManager
from vllm.tool_parsers.abstract_tool_parser import ToolParser

from workers.endpoint import Endpoint
from workers.errors import EngineRefused

#: Our own, for models without a tool parser.
FORCED_CALLS: Final = "headrace-forced-calls"


class ForcedCallsParser(ToolParser):  # type: ignore[misc]
    """Reads the calls that a structure forces (`required`, a named tool), as vLLM's base class does, and no others."""

    def extract_tool_calls(self, model_output: str, request: Any) -> ExtractedToolCallInformation:  # noqa: ARG002
        return ExtractedToolCallInformation(tools_called=False, tool_calls=[], content=model_output)


class Parsers(NamedTuple):
    """The names of an endpoint's parsers, as vLLM knows them."""

    tools: str
    reasoning: str
    #: The tool parser is the model's own: it finds calls that no structure forced.
    auto: bool


def parsers_of(endpoint: Endpoint) -> Parsers:
    """EngineRefused where vLLM has no parser of a name."""
    ToolParserManager.register_module(FORCED_CALLS, force=True, module=ForcedCallsParser)
    _check(endpoint.name, "tool_parser", endpoint.tool_parser, ToolParserManager.list_registered())
    _check(
        endpoint.name, "reasoning_parser", endpoint.reasoning_parser, ReasoningParserManager.list_registered()
    )
    return Parsers(
        endpoint.tool_parser or FORCED_CALLS, endpoint.reasoning_parser or "", bool(endpoint.tool_parser)
    )


def _check(endpoint: str, key: str, name: str | None, known: Sequence[str]) -> None:
    if name is not None and name not in known:
        near = ", ".join(difflib.get_close_matches(name, known, n=3)) or ", ".join(known)
        raise EngineRefused(f"endpoints.{endpoint}.{key}: vLLM has no parser {name!r}; it has: {near}")
