"""Request lines for the comparison with vLLM's own front end: at least five of each kind, of temperature 0 or seeded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

Body = dict[str, Any]
QUESTIONS: Final = (
    "The capital of Norway is",
    "Name a colour.",
    "Is water wet? Answer in one word.",
    "Repeat exactly: when may I visit you",
    "How many legs has a spider?",
)
TOOL: Final = {
    "type": "function",
    "function": {
        "name": "get_tide",
        "description": "Height of the tide at a harbour",
        "parameters": {
            "type": "object",
            "properties": {"hour": {"type": "integer", "minimum": 0, "maximum": 23}},
            "required": ["hour"],
            "additionalProperties": False,
        },
    },
}
OTHER_TOOL: Final = {
    "type": "function",
    "function": {
        "name": "is_high",
        "parameters": {
            "type": "object",
            "properties": {"high": {"type": "boolean"}},
            "required": ["high"],
            "additionalProperties": False,
        },
    },
}
NAMED: Final = {"type": "function", "function": {"name": "get_tide"}}
SCHEMA: Final = {
    "type": "object",
    "properties": {"good": {"type": "boolean"}, "stars": {"type": "integer", "minimum": 1, "maximum": 5}},
    "required": ["good", "stars"],
    "additionalProperties": False,
}


def user(text: str) -> list[Body]:
    return [{"role": "user", "content": text}]


def led(role: str, text: str, words: str) -> list[Body]:
    return [{"role": role, "content": words}, *user(text)]


def parts(text: str) -> list[Body]:
    pieces = [{"type": "text", "text": piece} for piece in text.split(" ", 2)]
    return [{"role": "user", "content": pieces}]


def after_refusal(text: str) -> list[Body]:
    refusal = {"role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot."}]}
    return [*user("x"), refusal, *user(text)]


def after_call(text: str, arguments: str) -> list[Body]:
    call = {"id": "call_7", "type": "function", "function": {"name": "get_tide", "arguments": arguments}}
    return [
        *user("How high is the tide at 5?"),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_7", "content": "4.2 m"},
        *user(text),
    ]


ARGUMENTS: Final = ('{"hour": 5}', "", '{"hou', '"Brest"', "[1]")
#: A kind, and its body for a question and its number.
CHAT_KINDS: Final[dict[str, Callable[[str, int], Body]]] = {
    "plain": lambda text, _: {"messages": user(text)},
    "system": lambda text, _: {"messages": led("system", text, "Be terse.")},
    "developer": lambda text, _: {"messages": led("developer", text, "Answer in French.")},
    "tool history": lambda text, n: {"messages": after_call(text, ARGUMENTS[n])},
    "parts": lambda text, _: {"messages": parts(text)},
    "refusal": lambda text, _: {"messages": after_refusal(text)},
    "tools required": lambda text, n: {
        "messages": user(text),
        "tools": [TOOL, OTHER_TOOL][: 1 + n % 2],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "max_tokens": 120,
    },
    "one call required": lambda text, n: {
        "messages": user(text),
        "tools": [OTHER_TOOL, TOOL],
        "tool_choice": "required",
        "parallel_tool_calls": False,
        "max_tokens": 120,
    },
    "named tool": lambda text, n: {
        "messages": user(text),
        "tools": [OTHER_TOOL, TOOL],
        "tool_choice": NAMED,
        "max_tokens": 60,
    },
    "tools none": lambda text, _: {"messages": user(text), "tools": [TOOL], "tool_choice": "none"},
    "choice": lambda text, n: {
        "messages": user(text),
        "max_tokens": 16,
        "structured_outputs": {"choice": ["yes", "no", "Oslo, of course", "eight"][: 2 + n % 3]},
    },
    "regex": lambda text, n: {
        "messages": user(text),
        "max_tokens": 16,
        "structured_outputs": {"regex": f"[a-z]{{{n + 2}}} [0-9]{{2}}"},
    },
    "grammar": lambda text, n: {
        "messages": user(text),
        "structured_outputs": {"grammar": f'root ::= "left" | "right" | "{n} up"'},
    },
    "schema in response_format": lambda text, _: {
        "messages": user(text),
        "max_tokens": 60,
        "response_format": {"type": "json_schema", "json_schema": {"name": "review", "schema": SCHEMA}},
    },
    "schema in structured_outputs": lambda text, _: {
        "messages": user(text),
        "max_tokens": 60,
        "structured_outputs": {"json": SCHEMA},
    },
    "json object": lambda text, _: {
        "messages": led("system", text, 'Answer with this and nothing else: {"a": 1}'),
        "max_tokens": 60,
        "response_format": {"type": "json_object"},
    },
    "logprobs": lambda text, n: {"messages": user(text), "logprobs": True, "top_logprobs": n},
    "prompt logprobs": lambda text, n: {"messages": user(text), "prompt_logprobs": n, "max_tokens": 2},
    "echo": lambda text, n: {
        "messages": [*user(text), {"role": "assistant", "content": "Well, it"}],
        "echo": n % 2 == 0,
        "add_generation_prompt": False,
        "continue_final_message": True,
    },
    "several answers": lambda text, n: {
        "messages": user(text),
        "n": 2 + n % 3,
        "seed": n,
        "temperature": 0.8,
    },
    "seed": lambda text, n: {"messages": user(text), "seed": 40 + n, "temperature": 1.0},
    "stop text": lambda text, n: {
        "messages": user(text),
        "stop": [" is", "a", "e"][: 1 + n % 3],
        "include_stop_str_in_output": n % 2 == 0,
    },
    "stop tokens": lambda text, n: {"messages": user(text), "stop_token_ids": [30, 28, 338, 314]},
    "biases": lambda text, n: {"messages": user(text), "logit_bias": {"504": 12.5 - n, "28": -100, "253": 9}},
    "penalties": lambda text, n: {
        "messages": user(text),
        "presence_penalty": 0.3 * n,
        "frequency_penalty": 1.5 - 0.3 * n,
        "repetition_penalty": 1.0 + 0.1 * n,
    },
    "without an end": lambda text, n: {"messages": user(text), "ignore_eos": True, "max_tokens": 8 + n},
    "at least": lambda text, n: {"messages": user(text), "min_tokens": 8 + n, "max_completion_tokens": 16},
    "bad words": lambda text, _: {"messages": user(text), "bad_words": ["Oslo", "the", "I", "Yes", "blue"]},
    "allowed tokens": lambda text, n: {
        "messages": user(text),
        "allowed_token_ids": [28, 30, 253, 504, 1971, 2953 + n],
    },
    "narrow sampling": lambda text, n: {
        "messages": user(text),
        "top_k": 5 + n,
        "top_p": 0.9,
        "min_p": 0.05,
        "temperature": 0.7,
        "seed": 7,
    },
    "truncated": lambda text, n: {
        "messages": user(text),
        "truncate_prompt_tokens": 8 + n,
        "truncation_side": "left",
    },
    "token ids": lambda text, n: {
        "messages": user(text),
        "return_token_ids": True,
        "logprobs": True,
        "top_logprobs": 1,
        "return_tokens_as_token_ids": n % 2 == 0,
        "return_prompt_text": True,
    },
}
COMPLETION_KINDS: Final[dict[str, Callable[[str, int], Body]]] = {
    "text": lambda text, _: {"prompt": text},
    "ids": lambda _, n: {"prompt": [504, 2953 + n, 314]},
    "texts": lambda text, n: {"prompt": [text, "The sea is", "The moon is"][: 1 + n % 3]},
    "lists of ids": lambda _, n: {"prompt": [[504, 2953], [504, 1971, 28 + n]]},
    "echo": lambda text, n: {"prompt": text, "echo": True, "logprobs": n},
    "echo of ids": lambda _, n: {"prompt": [504, 2953 + n], "echo": True},
    "logprobs": lambda text, n: {"prompt": text, "logprobs": n},
    "prompt logprobs": lambda text, n: {"prompt": text, "prompt_logprobs": n, "return_token_ids": True},
    "several answers": lambda text, n: {"prompt": [text, "The sea"], "n": 2, "seed": n, "temperature": 0.9},
    "structure": lambda text, n: {"prompt": text, "structured_outputs": {"choice": ["yes", "no"]}},
    "stop": lambda text, n: {"prompt": text, "stop": ["e", "."], "max_tokens": 10},
}
DEFAULTS: Final = {"temperature": 0, "max_tokens": 6}


def lines(url: str, kinds: dict[str, Callable[[str, int], Body]]) -> list[Body]:
    """Each kind with each question, as request lines."""
    found = []
    for kind, body_of in kinds.items():
        for number, question in enumerate(QUESTIONS):
            body = {"model": "tiny", **DEFAULTS, **body_of(question, number)}
            if "max_completion_tokens" in body:
                del body["max_tokens"]
            found.append({"custom_id": f"{kind} {number}", "method": "POST", "url": url, "body": body})
    return found


def chat_lines() -> list[Body]:
    return lines("/v1/chat/completions", CHAT_KINDS)


def completion_lines() -> list[Body]:
    return lines("/v1/completions", COMPLETION_KINDS)
