"""The environment in which content is made: host, device, packages, git."""

import os
import platform
import re
import socket
import sys
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from recompose.errors import ProgramError
from recompose.files import Document
from recompose.programs import git
from recompose.progress import say

PACKAGES = ("torch", "open_clip_torch", "pytorch-lightning", "numpy", "pillow")
LOCK = "requirements.lock"
SOURCES = ("src", LOCK)  # parameters are in the recipe; nothing else but plugins can change a number


def environment() -> Document:
    """Return the host, device, Python version and packages of this process, and of torch in use its libraries."""
    facts: Document = {
        "host": socket.gethostname(),
        "device": _device(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PACKAGES},
    }
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "backends"):
        facts["instruction_set"] = torch.backends.cpu.get_cpu_capability().lower()
        facts["libraries"] = library_names(torch.__config__.show())
    return facts


def state_of_sources(root: Path = Path(), others: Iterable[Path] = ()) -> Document:
    """Return the git commit and whether the sources differ from it; None without git, whose reason is logged.

    Args:
        root: the folder of the code.
        others: sources of plugins, anywhere: where no commit has one of them as it is, the sources differ.
    """
    try:
        changed = git("status", "--porcelain", "--", *SOURCES, folder=root)
        commit = git("rev-parse", "--verify", "HEAD", folder=root)
    except ProgramError as error:
        say(f"recorded without a commit: {error}", detail=True)
        return {"commit": None, "dirty": None}
    return {"commit": commit, "dirty": bool(changed) or not all(map(is_committed, others))}


def is_committed(source: Path) -> bool:
    """Return true where a commit of the repository that a file lies in has it as it is."""
    try:
        git("ls-files", "--error-unmatch", "--", source.name, folder=source.parent)
        return not git("status", "--porcelain", "--", source.name, folder=source.parent)
    except ProgramError:
        return False


def _device() -> str:
    """Return the GPUs if this process used any, otherwise the processor."""
    if cuda := _cuda_in_use():
        return f"{cuda.device_count()} x {cuda.get_device_name()}"
    return f"{os.cpu_count() or 1} x {processor_name()}"


def processor_name() -> str:
    """Return the name of the processor's model, or of its architecture on systems without /proc/cpuinfo."""
    try:
        model = re.search(r"^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        model = None
    return model[1] if model else platform.machine()


def library_names(build: str) -> str:
    """Return the libraries of matrix products and convolutions that the description of a build of torch names.

    >>> library_names("  - Intel(R) oneAPI Math Kernel Library Version 2024.2-Product Build 20240605 for Intel\\n"
    ...               "  - Intel(R) MKL-DNN v3.11.2 (Git Hash abc)\\n  - Build settings: BLAS_INFO=mkl")
    'mkl 2024.2, oneDNN 3.11.2'
    """
    blas = re.search(r"BLAS_INFO=(\w+)", build)
    version_of_mkl = re.search(r"Math Kernel Library Version ([\d.]+)", build)
    onednn = re.search(r"MKL-DNN v([\d.]+)", build)
    names = [
        " ".join(filter(None, (blas and blas[1], version_of_mkl and version_of_mkl[1]))),
        f"oneDNN {onednn[1]}" if onednn else "",
    ]
    return ", ".join(filter(None, names))


def _cuda_in_use() -> Any:
    """Return ``torch.cuda`` if this process used a GPU, else None; never imports torch."""
    torch = sys.modules.get("torch")
    return torch.cuda if torch is not None and torch.cuda.is_initialized() else None
