"""What the machine has: Python, packages, GPUs, a scheduler; and whether that is what a profile asks for."""

import platform
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from recompose.environment import LOCK, PACKAGES
from recompose.kernels import describe_linear
from recompose.machine import Probe, Processor, onednn_from
from recompose.monitor.doctor.check import FINE, STOPS, WARNING, Check, size
from recompose.monitor.work_plan import Needed
from recompose.params import Trainer
from recompose.plan import Recipe

OLDEST = (3, 11)
PLUGIN = "snakemake_executor_plugin_slurm"
PATIENCE = 10  # seconds, with Slurm
SHOWN = 3  # partitions


@dataclass(frozen=True)
class Gpu:
    """A GPU."""

    name: str
    memory: int  # bytes
    bf16: bool  # whether it computes in bfloat16


@dataclass(frozen=True)
class Machine:
    """What is installed, and what the machine has."""

    python: tuple[int, ...]
    packages: Mapping[str, str | None]  # name -> version; None: it is not installed
    cuda: str | None  # that torch was built for
    gpus: tuple[Gpu, ...]
    slurm: str | None  # where Slurm has GPUs; None: there is no Slurm; empty: it does not answer
    plugin: bool  # whether Snakemake knows how

    @classmethod
    def here(cls) -> "Machine":
        """This machine; torch is imported for it, where there is one."""
        packages = {name: _version(name) for name in PACKAGES}
        try:
            cuda, gpus = _of_torch()
        except (ImportError, OSError):  # it is not there, or a library of its own is not
            cuda, gpus, packages["torch"] = None, (), None
        return cls(
            sys.version_info[:3],
            packages,
            cuda,
            gpus,
            slurm(),
            find_spec(PLUGIN) is not None,
        )


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _of_torch() -> tuple[str | None, tuple[Gpu, ...]]:
    """The CUDA that torch was built for, and the GPUs that it sees."""
    import torch

    return torch.version.cuda, tuple(_gpus(torch.cuda))


def _gpus(cuda: Any) -> Iterator[Gpu]:
    for index in range(cuda.device_count()):
        properties = cuda.get_device_properties(index)
        yield Gpu(properties.name, properties.total_memory, properties.major >= 8)


def slurm() -> str | None:
    """Where Slurm has GPUs, in words; None where there is no Slurm, empty where it does not answer."""
    if shutil.which("sbatch") is None:
        return None
    command = ("sinfo", "--noheader", "--format=%R|%D|%G")  # partition, nodes and what each of them has
    try:
        listed = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
    return with_gpus(listed)


def with_gpus(listed: str) -> str:
    """Where nodes have GPUs, in words, of lines ``partition|nodes|what each of them has``.

    >>> with_gpus("cpu|40|(null)\\ngpu|8|gpu:a100:4(S:0-1)\\n")
    'GPUs in gpu (8 x gpu:a100:4)'
    """
    rows = [line.split("|") for line in listed.splitlines() if line.count("|") == 2]
    places = [f"{name} ({nodes} x {has.partition('(')[0]})" for name, nodes, has in rows if has.startswith("gpu")]
    more = f" and {len(places) - SHOWN} more" if len(places) > SHOWN else ""
    return f"GPUs in {', '.join(places[:SHOWN])}{more}" if places else "no GPUs"


def python(machine: Machine) -> Check:
    """Whether Python is new enough."""
    found = f"{'.'.join(map(str, machine.python))}, {platform.machine()}"
    if machine.python >= OLDEST:
        return Check("Python", FINE, found)
    return Check("Python", STOPS, found, f"Python {'.'.join(map(str, OLDEST))} or later: make PYTHON=python3.11 ...")


def locked(root: Path) -> dict[str, list[str]]:
    """The versions that requirements.lock names, of some packages one for each Python; none where there is no such
    file.
    """
    path = root / LOCK
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    pins: dict[str, list[str]] = {}
    for line in lines:
        name, _, rest = line.partition("==")
        if rest.split() and not line.startswith((" ", "#")):
            pins.setdefault(name.strip(), []).append(rest.split()[0])
    return pins


def packages(machine: Machine, pins: Mapping[str, list[str]]) -> Check:
    """Whether the packages that numbers depend on are those that are locked."""
    found = ", ".join(f"{name} {installed or 'absent'}" for name, installed in machine.packages.items())
    if any(installed is None for installed in machine.packages.values()):
        return Check("packages", STOPS, found, "make environment")
    differing = [
        f"{name} {' or '.join(pins[name])}"
        for name, installed in machine.packages.items()
        # torch's own packages carry the CUDA that they were built for behind a plus
        if name in pins and str(installed).partition("+")[0] not in pins[name]
    ]
    if differing:
        remedy = f"`make environment` installs {', '.join(differing)}, as {LOCK} has it; or mind it in comparisons"
        return Check("packages", WARNING, found, remedy)
    return Check("packages", FINE, found)


def processor(here: Processor, probe: Probe | None, trainer: Trainer) -> Check:
    """Describe the processor: its instruction set, how fast it computes, and by what it computes linear maps."""
    found = f"{here.cores} x {here.model}, {here.instruction_set}"
    if probe is None:
        return Check("processor", WARNING, f"{found}, not measured", "times are told as if all machines were alike")
    maps = describe_linear(onednn_from(trainer.linear))
    found += f"; a training step takes {1000 * probe.step_seconds:.0f} ms; linear maps by {maps}"
    if probe.crash:
        remedy = f"oneDNN crashes here ({probe.crash}), and is taken for no linear map; results hold"
        return Check("processor", WARNING, found, remedy)
    return Check("processor", FINE, found)


def gpus(machine: Machine, trainer: Trainer, runs: Iterable[Recipe]) -> Check:
    """Whether there are the GPUs that training asks for."""
    precisions = {str(run.document["trainer"]["precision"]) for run in runs if "trainer" in run.document}
    devices = 1 if trainer.devices == "auto" else int(trainer.devices)
    found = _named(machine)
    if trainer.accelerator == "cpu":
        return Check("GPU", FINE, f"{found}; the profile asks for none")
    if not machine.gpus:
        return _without_gpu(machine, trainer, precisions, found)
    if devices > len(machine.gpus):
        remedy = f"trainer.devices of the profile is {devices}: lower it, or take a machine that has as many"
        return Check("GPU", STOPS, found, remedy)
    if "bf16-mixed" in precisions and not all(gpu.bf16 for gpu in machine.gpus):
        remedy = "this GPU only emulates bfloat16: trainer.precision 16-mixed or 32-true is faster"
        return Check("GPU", WARNING, found, remedy)
    return Check("GPU", FINE, found)


def _named(machine: Machine) -> str:
    built = f"torch for CUDA {machine.cuda}" if machine.cuda else "torch without CUDA"
    counts: dict[str, int] = {}
    for gpu in machine.gpus:
        counts[f"{gpu.name} ({size(gpu.memory)})"] = counts.get(f"{gpu.name} ({size(gpu.memory)})", 0) + 1
    return f"{', '.join(f'{count} x {name}' for name, count in counts.items()) or 'none'}; {built}"


def _without_gpu(machine: Machine, trainer: Trainer, precisions: set[str], found: str) -> Check:
    if machine.slurm:
        return Check("GPU", WARNING, found, "jobs get theirs from Slurm: run `recompose doctor` in a job, too")
    mend = "see that `nvidia-smi` lists it" if machine.cuda else "install a torch that is built for CUDA"
    if trainer.accelerator == "gpu":
        return Check("GPU", STOPS, found, f"the profile asks for a GPU: {mend}, or take trainer.accelerator auto")
    if "16-mixed" in precisions:
        remedy = f"some methods train in 16-mixed, which needs a GPU: {mend}, or take another precision for them"
        return Check("GPU", STOPS, found, remedy)
    return Check("GPU", WARNING, found, f"everything computes on the processor, which takes long: {mend}")


def gpu_memory(machine: Machine, trainer: Trainer, needed: Iterable[Needed]) -> Check | None:
    """Whether the largest run fits; None where none takes a GPU."""
    runs = [each for each in needed if each.kind == "runs" and not each.there]
    if trainer.accelerator == "cpu" or not machine.gpus or not runs:
        return None
    known = [each for each in runs if each.estimate and each.estimate.memory is not None]
    if not known:
        remedy = "`recompose timing` runs a few steps of each method, and says"
        return Check("GPU memory", WARNING, "what runs need is unknown", remedy)
    largest = max(known, key=_memory)
    smallest = min(gpu.memory for gpu in machine.gpus)
    found = f"{size(smallest)}; {largest.title} needs {size(_memory(largest))}"
    if _memory(largest) > smallest:
        too_large = sorted({each.method for each in known if _memory(each) > smallest})
        remedy = f"lower training.batch_size of {', '.join(too_large)}, and raise accumulate as much where it has that"
        return Check("GPU memory", STOPS, found, remedy)
    if unknown := len(runs) - len(known):
        most = f"{found}; {unknown} of {len(runs)} runs are unknown"
        return Check("GPU memory", WARNING, most, "`recompose timing` says")
    return Check("GPU memory", FINE, found)


def _memory(run: Needed) -> int:
    assert run.estimate is not None and run.estimate.memory is not None
    return run.estimate.memory


def scheduler(machine: Machine) -> Check:
    """Whether jobs can go through Slurm, or run here."""
    if machine.slurm is None:
        return Check("scheduler", FINE, "none: jobs run on this machine")
    if not machine.slurm:
        return Check("scheduler", WARNING, "Slurm, which does not answer", "`sinfo` says why; jobs can run here, too")
    found = f"Slurm, {machine.slurm}"
    if not machine.plugin:
        return Check("scheduler", WARNING, f"{found}; no plugin of Snakemake for it", "uv pip install -e '.[slurm]'")
    return Check("scheduler", FINE, f"{found}: `snakemake --workflow-profile slurm`")
