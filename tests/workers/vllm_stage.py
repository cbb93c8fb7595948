"""vLLM's front end without an engine: a tiny model's settings and tokenizer, and chat templates of several tempers."""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from types import SimpleNamespace
from typing import Any

import pytest

from workers.endpoint import Endpoint
from workers.models import cache_folder
from workers.tiny_model import tiny_model

TOKENS_MAX = 512
TEMPLATES = {
    # Knows every role, and prints it.
    "plain": "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>\n{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}",
    # Walks through the arguments of past calls.
    "walks": "{% for m in messages %}[{{ m.role }}]"
    "{% if m.tool_calls %}{% for c in m.tool_calls %}({{ c.function.name }}"
    "{% for k, v in c.function.arguments | items %} {{ k }}:{{ v }}{% endfor %}){% endfor %}"
    "{% else %}{{ m.content }}{% endif %}\n{% endfor %}",
    # Refuses roles that it does not know.
    "strict": "{% for m in messages %}{% if m.role not in ('system', 'user', 'assistant') %}"
    "{{ raise_exception('no ' + m.role + ' here') }}{% endif %}{{ m.role }}: {{ m.content }}\n{% endfor %}",
    # Takes contents apart itself, so they reach it as lists of parts.
    "parts": "{% for m in messages %}{{ m.role }}{% if m.content is string %} {{ m.content }}"
    "{% else %}{% for part in m.content %}<{{ part['type'] }}>{{ part['text'] }}{% endfor %}{% endif %}\n"
    "{% endfor %}",
    # Shows the tools that are there, and the developer's words in a way of its own.
    "tools": "{% if tools %}{% for t in tools %}{{ t | tojson }}\n{% endfor %}{% endif %}"
    "{% for m in messages %}{% if m.role == 'developer' %}!{{ m.content }}!"
    "{% else %}{{ m.role }}={{ m.content }}{% if m.tool_calls %}{{ m.tool_calls | tojson }}{% endif %}"
    "{% if m.tool_call_id %} to {{ m.tool_call_id }}{% endif %}{% endif %}\n{% endfor %}",
}


def needs_vllm() -> None:
    if importlib.util.find_spec("vllm") is None and not os.environ.get("CI"):
        pytest.skip("vLLM is not installed")


@cache
def settings() -> Any:
    """vLLM's whole configuration for the tiny model."""
    from vllm.engine.arg_utils import AsyncEngineArgs  # noqa: PLC0415 - not everywhere

    from workers.engines.vllm_args import engine_args  # noqa: PLC0415

    options = {"max_model_len": TOKENS_MAX, "dtype": "float32", "kv_cache_memory_bytes": 64 * 1024**2}
    endpoint = Endpoint("tiny", model=str(tiny_model(cache_folder(os.environ))), options=options)
    return AsyncEngineArgs(**engine_args(endpoint, endpoint.model)).create_engine_config()


@cache
def renderer(template: str | None = None) -> Any:
    """vLLM's renderer with one of the templates; None: with the model's own."""
    from transformers import AutoTokenizer  # noqa: PLC0415
    from vllm.renderers.registry import RENDERER_REGISTRY  # noqa: PLC0415
    from vllm.tokenizers.hf import get_cached_tokenizer  # noqa: PLC0415

    config = settings()
    tokenizer = AutoTokenizer.from_pretrained(config.model_config.tokenizer)
    if template is not None:
        tokenizer.chat_template = TEMPLATES[template]
    return RENDERER_REGISTRY.load_renderer("hf", config, get_cached_tokenizer(tokenizer))


def idle_engine(template: str | None = None) -> Any:
    """What vLLM's answer builders ask of an engine, and no engine behind it."""
    config = settings()
    return SimpleNamespace(
        model_config=config.model_config,
        vllm_config=config,
        renderer=renderer(template),
        input_processor=None,
    )
