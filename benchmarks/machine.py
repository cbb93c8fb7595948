"""On what, and when: every figure is worth something only with these."""

from __future__ import annotations

import datetime
import os
import platform
from pathlib import Path


def machine() -> str:
    """One line: CPU, its vector units, cores, Python, date."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8") if Path("/proc/cpuinfo").exists() else ""
    model = _field(text, "model name") or platform.processor()
    flags = _field(text, "flags").split()
    units = [flag for flag in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if flag in flags]
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    return f"{model} ({', '.join(units)}), {os.cpu_count()} cores, Python {platform.python_version()}, {day}"


def _field(text: str, name: str) -> str:
    for line in text.splitlines():
        if line.startswith(name):
            return line.partition(":")[2].strip()
    return ""
