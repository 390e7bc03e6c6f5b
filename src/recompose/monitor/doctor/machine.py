"""Checks of this machine: Python, packages, processor, GPUs and scheduler, against the needs of a profile."""

import platform
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from recompose.commands.plan import PlannedItem
from recompose.environment import LOCK, PACKAGES
from recompose.errors import ProgramError
from recompose.monitor.doctor.check import FINE, STOPS, WARNING, Check, size
from recompose.params import Trainer
from recompose.plan import Recipe
from recompose.programs import ask

OLDEST = (3, 11)
PLUGIN = "snakemake_executor_plugin_slurm"
PATIENCE = 10  # seconds, with Slurm
MOST_PARTITIONS = 3  # that a message names
FIRST_RUN = "the first run of each method records it"


@dataclass(frozen=True)
class Gpu:
    """A GPU."""

    name: str
    memory: int  # bytes
    bf16: bool  # true where it computes in bfloat16 natively


@dataclass(frozen=True)
class SystemInfo:
    """The software and hardware of a machine."""

    python: tuple[int, ...]
    packages: Mapping[str, str | None]  # name -> version; None: not installed
    cuda: str | None  # the version that torch was built for
    gpus: tuple[Gpu, ...]
    slurm: str | None  # partitions with GPUs; None: no Slurm; empty: Slurm does not answer
    plugin: bool  # true where Snakemake's plugin for Slurm is installed
    slurm_fault: str = ""  # why Slurm does not answer

    @classmethod
    def here(cls) -> "SystemInfo":
        """Return this machine's; it imports torch where that is installed."""
        packages = {name: _version(name) for name in PACKAGES}
        try:
            cuda, gpus = _torch_gpus()
        except (ImportError, OSError):  # torch, or a library that it loads, is missing
            cuda, gpus, packages["torch"] = None, (), None
        slurm, fault = slurm_gpus()
        return cls(sys.version_info[:3], packages, cuda, gpus, slurm, find_spec(PLUGIN) is not None, fault)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _torch_gpus() -> tuple[str | None, tuple[Gpu, ...]]:
    """Return the CUDA version that torch was built for, and the GPUs that it sees."""
    import torch

    return torch.version.cuda, tuple(_gpus(torch.cuda))


def _gpus(cuda: Any) -> Iterator[Gpu]:
    for index in range(cuda.device_count()):
        properties = cuda.get_device_properties(index)
        yield Gpu(properties.name, properties.total_memory, properties.major >= 8)


def slurm_gpus() -> tuple[str | None, str]:
    """Describe Slurm's partitions with GPUs; None without Slurm, empty with the reason where it does not answer."""
    if shutil.which("sbatch") is None:
        return None, ""
    options = ("--noheader", "--format=%R|%D|%G")  # partition, nodes, resources of each node
    try:
        return gpu_partitions(ask("sinfo", *options, patience=PATIENCE)), ""
    except ProgramError as error:
        return "", str(error)


def gpu_partitions(listing: str) -> str:
    """Describe the partitions with GPUs, from lines ``partition|nodes|resources of each node``.

    >>> gpu_partitions("cpu|40|(null)\\ngpu|8|gpu:a100:4(S:0-1)\\n")
    'GPUs in gpu (8 x gpu:a100:4)'
    """
    rows = [line.split("|") for line in listing.splitlines() if line.count("|") == 2]
    partitions = [f"{name} ({nodes} x {gpu.partition('(')[0]})" for name, nodes, gpu in rows if gpu.startswith("gpu")]
    more = f" and {len(partitions) - MOST_PARTITIONS} more" if len(partitions) > MOST_PARTITIONS else ""
    return f"GPUs in {', '.join(partitions[:MOST_PARTITIONS])}{more}" if partitions else "no GPUs"


def check_python(system: SystemInfo) -> Check:
    """Check that Python is new enough."""
    finding = f"{'.'.join(map(str, system.python))}, {platform.machine()}"
    if system.python >= OLDEST:
        return Check("Python", FINE, finding)
    return Check("Python", STOPS, finding, f"Python {'.'.join(map(str, OLDEST))} or later: make PYTHON=python3.11 ...")


def locked_versions(root: Path) -> dict[str, list[str]]:
    """Return the pins of requirements.lock, one for each Python version where they differ; empty without the file."""
    path = root / LOCK
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    pins: dict[str, list[str]] = {}
    for line in lines:
        name, _, pin = line.partition("==")
        if pin.split() and not line.startswith((" ", "#")):
            pins.setdefault(name.strip(), []).append(pin.split()[0])
    return pins


def check_packages(system: SystemInfo, pins: Mapping[str, list[str]]) -> Check:
    """Check that the installed packages on which numbers depend are the locked ones."""
    finding = ", ".join(f"{name} {installed or 'absent'}" for name, installed in system.packages.items())
    if any(installed is None for installed in system.packages.values()):
        return Check("packages", STOPS, finding, "make environment")
    differing = [
        f"{name} {' or '.join(pins[name])}"
        for name, installed in system.packages.items()
        # torch's own packages append their CUDA version after a plus
        if name in pins and str(installed).partition("+")[0] not in pins[name]
    ]
    if differing:
        remedy = f"`make environment` installs {', '.join(differing)} from {LOCK}; otherwise numbers may differ"
        return Check("packages", WARNING, finding, remedy)
    return Check("packages", FINE, finding)


def check_gpus(system: SystemInfo, trainer: Trainer, runs: Iterable[Recipe]) -> Check:
    """Check that this machine has the GPUs that training asks for."""
    precisions = {str(run.document["trainer"]["precision"]) for run in runs if "trainer" in run.document}
    devices = 1 if trainer.devices == "auto" else int(trainer.devices)
    finding = _describe_gpus(system)
    if trainer.accelerator == "cpu":
        return Check("GPU", FINE, f"{finding}; the profile needs none")
    if not system.gpus:
        return _check_missing_gpu(system, trainer, precisions, finding)
    if devices > len(system.gpus):
        remedy = f"trainer.devices of the profile is {devices}: lower it, or use a machine with as many GPUs"
        return Check("GPU", STOPS, finding, remedy)
    if "bf16-mixed" in precisions and not all(gpu.bf16 for gpu in system.gpus):
        remedy = "this GPU only emulates bfloat16: trainer.precision 16-mixed or 32-true is faster"
        return Check("GPU", WARNING, finding, remedy)
    return Check("GPU", FINE, finding)


def _describe_gpus(system: SystemInfo) -> str:
    build = f"torch for CUDA {system.cuda}" if system.cuda else "torch without CUDA"
    counts: dict[str, int] = {}
    for gpu in system.gpus:
        title = f"{gpu.name} ({size(gpu.memory)})"
        counts[title] = counts.get(title, 0) + 1
    return f"{', '.join(f'{count} x {name}' for name, count in counts.items()) or 'none'}; {build}"


def _check_missing_gpu(system: SystemInfo, trainer: Trainer, precisions: set[str], finding: str) -> Check:
    if system.slurm:
        return Check("GPU", WARNING, finding, "Slurm assigns GPUs to jobs: run `recompose doctor` in a job as well")
    remedy = "check that `nvidia-smi` lists it" if system.cuda else "install a torch built for CUDA"
    if trainer.accelerator == "gpu":
        return Check("GPU", STOPS, finding, f"the profile needs a GPU: {remedy}, or set trainer.accelerator to auto")
    if "16-mixed" in precisions:
        remedy = f"some methods train in 16-mixed, which needs a GPU: {remedy}, or choose another precision for them"
        return Check("GPU", STOPS, finding, remedy)
    return Check("GPU", WARNING, finding, f"everything runs on the CPU, which is slow: {remedy}")


def check_gpu_memory(system: SystemInfo, trainer: Trainer, items: Iterable[PlannedItem]) -> Check | None:
    """Check that the largest run fits into GPU memory; None where no run uses a GPU."""
    runs = [run for run in items if run.kind == "runs" and not run.there]
    if trainer.accelerator == "cpu" or not system.gpus or not runs:
        return None
    estimated = [run for run in runs if run.estimate and run.estimate.memory is not None]
    if not estimated:
        return Check("GPU memory", WARNING, "the memory of runs is unknown", FIRST_RUN)
    largest = max(estimated, key=_memory)
    smallest = min(gpu.memory for gpu in system.gpus)
    finding = f"{size(smallest)}; {largest.title} needs {size(_memory(largest))}"
    if _memory(largest) > smallest:
        too_large = sorted({run.method for run in estimated if _memory(run) > smallest})
        remedy = f"lower training.batch_size of {', '.join(too_large)}, and raise accumulate (where it exists) as much"
        return Check("GPU memory", STOPS, finding, remedy)
    if unknown := len(runs) - len(estimated):
        finding += f"; unknown for {unknown} of {len(runs)} runs"
        return Check("GPU memory", WARNING, finding, FIRST_RUN)
    return Check("GPU memory", FINE, finding)


def _memory(run: PlannedItem) -> int:
    assert run.estimate is not None and run.estimate.memory is not None
    return run.estimate.memory


def check_scheduler(system: SystemInfo) -> Check:
    """Check that jobs can run through Slurm, or here."""
    if system.slurm is None:
        return Check("scheduler", FINE, "none: jobs run on this machine")
    if not system.slurm:
        finding = f"Slurm, which does not answer ({system.slurm_fault})"
        return Check("scheduler", WARNING, finding, "jobs can run here, too")
    finding = f"Slurm, {system.slurm}"
    if not system.plugin:
        return Check("scheduler", WARNING, f"{finding}; Snakemake's plugin is missing", "uv pip install -e '.[slurm]'")
    return Check("scheduler", FINE, f"{finding}: `snakemake --workflow-profile slurm`")
