"""How much one request may ask for."""

from __future__ import annotations

from typing import Final

TOKENS_MAX: Final = 2**31 - 1
STOPS_MAX: Final = 16
ANSWERS_MAX: Final = 8
#: Texts of one embedding request: OpenAI's bound.
INPUT_TEXTS_MAX: Final = 2_048
#: Token ids of one request: beyond any model.
INPUT_TOKENS_MAX: Final = 1_000_000
#: Prompts of one completion request; each is answered `n` times.
PROMPTS_MAX: Final = 64
#: Likely tokens told of at each place: OpenAI's bound, and what vLLM takes as installed.
LOGPROBS_MAX: Final = 20
#: vLLM's own bound.
LOGPROB_TOKENS_MAX: Final = 128
LOGIT_BIASES_MAX: Final = 1_024
#: Words that must not occur, and tokens that end an answer.
BAD_WORDS_MAX: Final = 1_024
#: OpenAI's bound.
TOOLS_MAX: Final = 128
DOCUMENTS_MAX: Final = 1_024
DIMENSIONS_MAX: Final = 65_536
#: Tokens of a pattern that is looked for in an answer: each step costs so many comparisons.
PATTERN_TOKENS_MAX: Final = 256
