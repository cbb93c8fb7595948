"""Fields that chats and completions share: sampling, ends, what the answer tells of its tokens, and the unsafe ones."""

from __future__ import annotations

from typing import Final

from schemas.fields.level import Field, honoured, named, refused
from schemas.limits import (
    ANSWERS_MAX,
    BAD_WORDS_MAX,
    LOGIT_BIASES_MAX,
    LOGPROB_TOKENS_MAX,
    LOGPROBS_MAX,
    STOPS_MAX,
    TOKENS_MAX,
)

_FLAG: Final = "true or false"
_GUIDED: Final = refused("give structured_outputs with choice, regex, grammar or json")
_TOKENS: Final = f"a whole number from 1 to {TOKENS_MAX}"

#: What every request may hold: where it goes, whose it is, how soon.
ROUTING: Final[dict[str, Field]] = {
    "model": honoured("text: the name of an endpoint"),
    "metadata": honoured("an object of texts; `tenant` says whose the record is, other keys have no effect"),
    "prompt_cache_key": honoured("text; it routes, it orders nothing"),
    "service_tier": honoured("one of priority, default, auto, flex, batch: the lane"),
    "user": named("nobody is told apart by it; the tenant is a header or `metadata.tenant`"),
    "safety_identifier": named("nobody is told apart by it"),
}

#: Not a producer's to say: other people's processes, hosts, caches and order hang on it.
UNSAFE: Final[dict[str, Field]] = {
    "cache_salt": refused("the service keeps tenants apart itself"),
    "priority": refused("give the header headrace-lane, or service_tier", 0),
    "request_id": refused("give custom_id; the service makes ids of its own"),
    "session_id": refused("give the header headrace-session, or a record key"),
    "mm_processor_kwargs": refused("it would change what the engine's processes use"),
    "kv_transfer_params": refused("it would name hosts and memory to fetch from"),
    "ec_transfer_params": refused("it would name hosts and memory to fetch from"),
    "vllm_xargs": refused("extra arguments reach extensions of the engine unchecked"),
    "lora_request": refused("name an endpoint whose model has the adapter"),
    "adapter": refused("name an endpoint whose model has the adapter"),
}

SAMPLING: Final[dict[str, Field]] = {
    "max_tokens": honoured(_TOKENS),
    "max_completion_tokens": honoured(_TOKENS),
    "min_tokens": honoured(f"a whole number from 0 to {TOKENS_MAX}, at most max_tokens"),
    "temperature": honoured("a number from 0 to 2"),
    "top_p": honoured("a number above 0, at most 1"),
    "top_k": honoured("a whole number: 0 or -1 (all), or from 1"),
    "min_p": honoured("a number from 0 to 1"),
    "n": honoured(f"a whole number from 1 to {ANSWERS_MAX}"),
    "seed": honoured("a whole number of 64 bits"),
    "presence_penalty": honoured("a number from -2 to 2"),
    "frequency_penalty": honoured("a number from -2 to 2"),
    "repetition_penalty": honoured("a number above 0"),
    "repetition_detection": honoured(
        "an object {max_pattern_size, min_pattern_size, min_count}: ends an answer that repeats itself"
    ),
    "logit_bias": honoured(
        f"an object of at most {LOGIT_BIASES_MAX} token ids with numbers from -100 to 100"
    ),
    "allowed_token_ids": honoured("a list of token ids"),
    "bad_words": honoured(f"a list of at most {BAD_WORDS_MAX} non-empty texts"),
    "stop": honoured(f"non-empty text, or a list of at most {STOPS_MAX} non-empty texts"),
    "stop_token_ids": honoured(f"a list of at most {BAD_WORDS_MAX} token ids"),
    "include_stop_str_in_output": honoured(_FLAG),
    "ignore_eos": honoured(_FLAG),
    "skip_special_tokens": honoured(_FLAG),
    "spaces_between_special_tokens": honoured(_FLAG),
    "truncate_prompt_tokens": honoured("a whole number from 1, or -1: the model's own bound"),
    "truncation_side": honoured("left or right"),
    "add_special_tokens": honoured(_FLAG),
    "echo": honoured(_FLAG),
    "thinking_token_budget": honoured("a whole number from -1 (no bound)"),
    "prompt_logprobs": honoured(f"a whole number from 0 to {LOGPROBS_MAX}"),
    "logprob_token_ids": honoured(f"a list of at most {LOGPROB_TOKENS_MAX} token ids; needs logprobs"),
    "return_token_ids": honoured(_FLAG),
    "return_tokens_as_token_ids": honoured(_FLAG),
    "response_format": honoured('an object such as {"type": "json_schema", "json_schema": {…}}'),
    "structured_outputs": honoured("an object with one of choice, regex, grammar, json, json_object"),
    "use_beam_search": refused("give n with a temperature: beams are not computed here", False),
    "best_of": refused("give n and choose among the answers", 1),
    "early_stopping": named("it is beam search's", False),
    "length_penalty": named("it is beam search's", 1, 1.0),
    "watermarking": refused("whether answers are marked is the operator's to say", True),
    "stream": refused("answers come whole, as one record: leave it out", False),
    "stream_options": refused("answers come whole, as one record: leave it out"),
    "stream_interval": named("answers come whole"),
    "routed_experts_prompt_start": named("routed experts are not returned", 0),
    "return_token_offsets": named("it is of vLLM's rendering urls only", False),
    "mm_payload": named("it is of vLLM's rendering urls only", "tensors"),
    "return_mm_kwargs": named("it is of vLLM's rendering urls only"),
    "guided_json": _GUIDED,
    "guided_regex": _GUIDED,
    "guided_choice": _GUIDED,
    "guided_grammar": _GUIDED,
    "guided_decoding_backend": _GUIDED,
    "guided_whitespace_pattern": _GUIDED,
}
