"""By what, where and from which sources something is made: host, device, packages, git."""

import os
import platform
import socket
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

PACKAGES = ("torch", "open_clip_torch", "pytorch-lightning", "numpy", "pillow")
LOCK = "requirements.lock"
SOURCES = ("src", LOCK)  # parameters are in the recipe; nothing else can move a number


def circumstances() -> dict[str, Any]:
    """By what and where content is made: host, device, python, packages."""
    return {
        "host": socket.gethostname(),
        "device": _device(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
    }


def state_of_sources() -> dict[str, Any]:
    """The git commit, and whether sources differ from it; None where there is no git to tell."""
    changed = _git("status", "--porcelain", "--", *SOURCES)
    return {"commit": _git("rev-parse", "HEAD"), "dirty": None if changed is None else bool(changed)}


def _device() -> str:
    """The GPUs where this process used any, the processor otherwise; torch is asked only where it is loaded already."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        return f"{torch.cuda.device_count()} x {torch.cuda.get_device_name()}"
    try:
        models = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    except OSError:
        models = []
    model = models[0].partition(":")[2].strip() if models else platform.machine()
    return f"{os.cpu_count()} x {model}"


def _git(*arguments: str) -> str | None:
    """What git says, without a lock that a kill would leave; None outside a repository or without git."""
    try:
        done = subprocess.run(["git", "--no-optional-locks", *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
