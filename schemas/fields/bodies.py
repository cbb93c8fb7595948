"""The fields of each task's body, and of the line around it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from schemas.fields.generation import ROUTING, SAMPLING, UNSAFE
from schemas.fields.level import Level, honoured, named, refused
from schemas.limits import (
    DIMENSIONS_MAX,
    DOCUMENTS_MAX,
    INPUT_TEXTS_MAX,
    INPUT_TOKENS_MAX,
    LOGPROBS_MAX,
    PROMPTS_MAX,
    TOOLS_MAX,
)
from schemas.task import TASK_OF_URL, Task

_FLAG: Final = "true or false"
_TEMPLATE: Final = {
    "chat_template": refused("it is a program that would run here; the endpoint's model has one"),
    "media_io_kwargs": refused("this version takes text only"),
}

LINE: Final = Level(
    "line",
    {
        "custom_id": honoured("text or null; the answer carries it"),
        "method": honoured('"POST"'),
        "url": honoured("one of " + ", ".join(TASK_OF_URL)),
        "body": honoured('an object {"model": …, …}'),
    },
)

CHAT: Final = Level(
    "chat body",
    {
        **ROUTING,
        **UNSAFE,
        **SAMPLING,
        **_TEMPLATE,
        "messages": honoured('a list of one or more {"role", "content"} objects'),
        "logprobs": honoured(_FLAG),
        "top_logprobs": honoured(f"a whole number from 0 to {LOGPROBS_MAX}; needs logprobs"),
        "tools": honoured(f'a list of 1 to {TOOLS_MAX} {{"type": "function", "function": {{…}}}} objects'),
        "tool_choice": honoured('none, auto, required or {"type": "function", "function": {"name": …}}'),
        "parallel_tool_calls": honoured(_FLAG),
        "reasoning_effort": honoured("one of none, minimal, low, medium, high, xhigh, max"),
        "include_reasoning": honoured(_FLAG),
        "documents": honoured(f"a list of at most {DOCUMENTS_MAX} objects of texts, for the chat template"),
        "chat_template_kwargs": honoured("an object with enable_thinking or thinking"),
        "add_generation_prompt": honoured(_FLAG),
        "continue_final_message": honoured(_FLAG + "; true needs add_generation_prompt: false"),
        "return_prompt_text": honoured(_FLAG),
        "functions": refused("give tools"),
        "function_call": refused("give tool_choice", "none"),
        "audio": refused("this version answers with text only"),
        "modalities": refused("this version answers with text only", ["text"]),
        "verbosity": refused("say in a message how long the answer may be", "medium"),
        "web_search_options": refused("nothing is searched; give what was found in a message"),
        "moderation": refused("nothing is moderated here"),
        "prediction": named("it makes some services faster, never another answer"),
        "prompt_cache_options": named("prefixes are cached without being asked"),
        "prompt_cache_retention": named("prefixes are cached without being asked"),
        "store": named("answers are records of a topic, kept as long as it keeps them", False),
    },
)

COMPLETION: Final = Level(
    "completion body",
    {
        **ROUTING,
        **UNSAFE,
        **SAMPLING,
        "prompt": honoured(
            f"text, token ids, or a list of at most {PROMPTS_MAX} texts or lists of token ids"
        ),
        "logprobs": honoured(f"a whole number from 0 to {LOGPROBS_MAX}"),
        "suffix": refused("the engine does not insert; give the text before as the prompt", ""),
        "prompt_embeds": refused("give a prompt of text or token ids"),
    },
)

EMBEDDING: Final = Level(
    "embedding body",
    {
        **ROUTING,
        **UNSAFE,
        **_TEMPLATE,
        "input": honoured(
            f"text, token ids, or a list of at most {INPUT_TEXTS_MAX} texts or lists of token ids, "
            f"at most {INPUT_TOKENS_MAX} token ids in all"
        ),
        "encoding_format": honoured("float or base64"),
        "dimensions": honoured(f"a whole number from 1 to {DIMENSIONS_MAX}"),
        "embed_dtype": honoured("one of float32, float16, bfloat16, fp8_e4m3, fp8_e5m2"),
        "endianness": honoured("one of native, big, little"),
        "use_activation": honoured(_FLAG),
        "truncate_prompt_tokens": honoured("a whole number from 1, or -1: the model's own bound"),
        "truncation_side": honoured("left or right"),
        "padding": honoured("max_length or do_not_pad"),
        "add_special_tokens": honoured(_FLAG),
        "normalize": refused("give use_activation"),
        "messages": refused("give input"),
        "chat_template_kwargs": refused("give input; it is for embeddings of messages"),
        "add_generation_prompt": named("it is for embeddings of messages", False),
        "continue_final_message": named("it is for embeddings of messages", False),
    },
)

BODY_OF: Final[Mapping[Task, Level]] = {
    Task.CHAT: CHAT,
    Task.COMPLETION: COMPLETION,
    Task.EMBEDDING: EMBEDDING,
}
