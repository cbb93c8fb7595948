"""Good values of fields, and requests around them."""

from __future__ import annotations

from typing import Any

from schemas.fields.bodies import BODY_OF
from schemas.fields.level import Fate
from schemas.task import TASK_OF_URL, Task

URL_OF = {task: url for url, task in TASK_OF_URL.items()}
LEAST: dict[Task, dict[str, Any]] = {
    Task.CHAT: {"model": "sim", "messages": [{"role": "user", "content": "Hello"}]},
    Task.COMPLETION: {"model": "sim", "prompt": "Once"},
    Task.EMBEDDING: {"model": "sim", "input": "Once"},
}
TOOLS = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
_FLAGS = (
    "include_stop_str_in_output",
    "ignore_eos",
    "skip_special_tokens",
    "spaces_between_special_tokens",
    "add_special_tokens",
    "echo",
    "return_token_ids",
    "return_tokens_as_token_ids",
    "parallel_tool_calls",
    "include_reasoning",
    "add_generation_prompt",
    "return_prompt_text",
    "use_activation",
)
#: One good value of each field that is honoured.
GOOD: dict[str, Any] = {
    "model": "sim",
    "messages": [{"role": "user", "content": "Hi"}],
    "prompt": [[1, 2], [3]],
    "input": ["a", "b"],
    "metadata": {"tenant": "acme"},
    "prompt_cache_key": "k",
    "service_tier": "flex",
    "max_tokens": 9,
    "max_completion_tokens": 9,
    "min_tokens": 1,
    "temperature": 0.5,
    "top_p": 0.5,
    "top_k": -1,
    "min_p": 0.5,
    "n": 2,
    "seed": 7,
    "presence_penalty": 1.5,
    "frequency_penalty": -1.5,
    "repetition_penalty": 1.5,
    "repetition_detection": {"max_pattern_size": 4, "min_count": 3},
    "logit_bias": {"17": -100.0},
    "allowed_token_ids": [1, 2],
    "bad_words": ["no"],
    "stop": ["x"],
    "stop_token_ids": [2],
    "truncate_prompt_tokens": -1,
    "truncation_side": "left",
    "thinking_token_budget": 5,
    "prompt_logprobs": 2,
    "logprob_token_ids": [1],
    "response_format": {"type": "json_object"},
    "structured_outputs": {"regex": "a+"},
    "logprobs": True,
    "top_logprobs": 3,
    "tools": TOOLS,
    "tool_choice": "auto",
    "reasoning_effort": "low",
    "documents": [{"title": "a", "text": "b"}],
    "chat_template_kwargs": {"enable_thinking": False},
    "continue_final_message": True,
    "encoding_format": "base64",
    "dimensions": 64,
    "embed_dtype": "float16",
    "endianness": "little",
    "padding": "do_not_pad",
    **dict.fromkeys(_FLAGS, False),
}
#: What must stand beside a field.
BESIDE: dict[str, dict[str, Any]] = {
    "top_logprobs": {"logprobs": True},
    "logprob_token_ids": {"logprobs": True},
    "tool_choice": {"tools": TOOLS},
    "continue_final_message": {"add_generation_prompt": False},
}
#: A value of a field that is refused or named, where 1 asks for nothing.
ASKING = {"best_of": 2, "length_penalty": 2, "priority": 2}


def fields_of(fate: Fate) -> list[tuple[Task, str]]:
    """Every field of a body with that fate."""
    return [
        (task, name)
        for task, level in BODY_OF.items()
        for name in level.fields
        if level.fields[name].fate is fate
    ]


def value_of(task: Task, name: str) -> Any:
    """A good value of an honoured field."""
    return 2 if (task, name) == (Task.COMPLETION, "logprobs") else GOOD[name]


def line_of(task: Task, **body: Any) -> dict[str, Any]:
    """A line that is good but for what is given."""
    return {"custom_id": "r-1", "url": URL_OF[task], "body": {**LEAST[task], **body}}


def line_with(task: Task, name: str) -> dict[str, Any]:
    """A line with a good value of that field."""
    beside = {key: value_of(task, key) if key == "logprobs" else v for key, v in BESIDE.get(name, {}).items()}
    return line_of(task, **beside, **{name: value_of(task, name)})
