"""The machine on which a benchmark ran."""

import os
import sys
from pathlib import Path


def machine() -> str:
    """The machine in words."""
    cpu = next((line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")), ":")
    return f"{os.cpu_count()} cores, {cpu.partition(':')[2].strip()}, Python {sys.version.split()[0]}"
