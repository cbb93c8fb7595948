"""A tiny random Llama with a real tokenizer: a real engine for tests, in 13 MB and without wisdom."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from workers.models import SMOLLM2, make_once, resolve_model

_SEED: Final = 7
#: Two heads of size 32: the smallest that vLLM's CPU attention takes.
_SHAPE: Final = {
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": True,
}


def tiny_model(cache: Path) -> Path:
    """The folder of the tiny model; made on first use, always the same weights."""
    tokenizer_folder = resolve_model(SMOLLM2, cache)
    return make_once(cache / "models" / "tiny-random-llama.2", lambda aside: _make(tokenizer_folder, aside))


def _make(tokenizer_folder: str, target: Path) -> None:
    import torch  # noqa: PLC0415 - needed once in the life of a machine
    import transformers  # noqa: PLC0415

    tokenizer = transformers.AutoTokenizer.from_pretrained(tokenizer_folder)
    tokenizer.save_pretrained(target)
    torch.manual_seed(_SEED)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        **_SHAPE,
    )
    transformers.LlamaForCausalLM(config).to(torch.float32).save_pretrained(target)
