"""By what, where and from which sources something is made: host, device, packages, git."""

import platform
import socket
import subprocess
import sys
from importlib.metadata import version
from typing import Any

from recompose.kernels import linear_kernel
from recompose.machine import Processor, cached_probe

PACKAGES = ("torch", "open_clip_torch", "pytorch-lightning", "numpy", "pillow")
LOCK = "requirements.lock"
SOURCES = ("src", LOCK)  # parameters are in the recipe; nothing else can move a number


def environment() -> dict[str, Any]:
    """By what and where content is made: host, device, kernels, python, packages."""
    return {
        "host": socket.gethostname(),
        "device": _device(),
        **_speed(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
    }


def state_of_sources() -> dict[str, Any]:
    """The git commit, and whether sources differ from it; None where there is no git to tell."""
    changed = _git("status", "--porcelain", "--", *SOURCES)
    return {"commit": _git("rev-parse", "HEAD"), "dirty": None if changed is None else bool(changed)}


def _device() -> str:
    """The GPUs where this process used any, the processor otherwise."""
    if cuda := _cuda_in_use():
        return f"{cuda.device_count()} x {cuda.get_device_name()}"
    processor = Processor.here()
    return f"{processor.cores} x {processor.model}"


def _speed() -> dict[str, Any]:
    """Return what the processor computed by, and how fast it is where that was measured; a GPU's speed is not its."""
    probe = None if _cuda_in_use() else cached_probe()
    return {
        "instruction_set": Processor.here().instruction_set,
        "linear": linear_kernel(),
        **({"step_seconds": probe.step_seconds} if probe else {}),
    }


def _cuda_in_use() -> Any:
    """Return torch's module of GPUs where this process used any; torch is asked only where it is loaded already."""
    torch = sys.modules.get("torch")
    return torch.cuda if torch is not None and torch.cuda.is_initialized() else None


def _git(*arguments: str) -> str | None:
    """What git says, without a lock that a kill would leave; None outside a repository or without git."""
    try:
        done = subprocess.run(["git", "--no-optional-locks", *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()
