"""`recompose doctor`: this machine, and what the chosen profile needs of it and of its disks. Nothing is asked of other
machines.
"""

import os
import platform
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from recompose.backbones.steps import asset_fault
from recompose.console import gibibytes, pluralize, print_findings, print_json
from recompose.data.upstream import LOCK as ARCHIVES_LOCK
from recompose.data.upstream import expectation, lock_entries
from recompose.environment import LOCK, PACKAGES, processor_name
from recompose.params.sections import Bundled, Classifier, Released, Trainer
from recompose.phases import track_of
from recompose.recipes.plan import Recipe
from recompose.workspace import Workspace

FINE, WARNING, STOPS = ("fine", "warning", "stops")
STYLES = {FINE: "green", WARNING: "yellow", STOPS: "bold red"}
LEAST = 2**30  # bytes that are free on a disk on which work can begin


@dataclass(frozen=True)
class Check:
    """The result of one check."""

    subject: str
    state: str  # stops: the workflow would fail because of it
    finding: str
    remedy: str = ""  # empty where the state is fine


def show_doctor(work: Workspace, *, as_json: bool) -> int:
    """Print a row for each check, with its remedy, and the result; return the exit code."""
    checks = examine(work)
    states = Counter(check.state for check in checks)
    if as_json:
        print_json(checks)
    else:
        rows = ((check.subject, (check.state, STYLES[check.state]), check.finding, check.remedy) for check in checks)
        print_findings("check", rows)
        problems = pluralize(states[STOPS], "problem") if states[STOPS] else "nothing"
        remedy = "; RECOMPOSE_PROFILE=demo needs no download and no GPU" if states[STOPS] else ""
        print(f"{problems} would stop the profile {work.params.profile}{remedy}")
    return 1 if states[STOPS] else 0


def examine(work: Workspace) -> list[Check]:
    """Return all checks, in the order in which a workflow needs their subjects."""
    runs = work.missing(work.plan.of("runs"))
    precisions = {str(run.document["trainer"]["precision"]) for run in runs if "trainer" in run.document}
    processor = f"{platform.machine()}, {os.cpu_count()} x {processor_name()}"
    return [
        Check("Python", FINE, f"{platform.python_version()} on {processor}"),
        check_packages(work.root / LOCK),
        check_gpus(*torch_gpus(), work.params.chosen.trainer, precisions),
        *map(check_disk, (work.data, work.results)),
        *check_data(work),
        *check_weights(work),
    ]


def torch_gpus() -> tuple[str | None, list[str]]:
    """Return the CUDA version that torch was built for, and the GPUs that it sees with their memory; none if torch
    cannot be imported.
    """
    try:
        import torch
    except (ImportError, OSError):  # torch, or a library that it loads, is missing
        return None, []
    devices = map(torch.cuda.get_device_properties, range(torch.cuda.device_count()))
    return torch.version.cuda, [f"{device.name} ({gibibytes(device.total_memory)})" for device in devices]


def check_packages(lock: Path) -> Check:
    """Check that the installed packages on which numbers depend are those of a lock file, which has one pin for each
    Python version where they differ.
    """
    installed = {name: _installed(name) for name in PACKAGES}
    finding = ", ".join(f"{name} {number or 'absent'}" for name, number in installed.items())
    if not all(installed.values()):
        return Check("packages", STOPS, finding, "make environment")
    pins = lock.read_text(encoding="utf-8").split() if lock.exists() else []
    differing = []
    for name, number in installed.items():
        pinned = [pin for pin in pins if pin.startswith(f"{name.replace('_', '-')}==")]
        if pinned and not any(pin.endswith(f"=={number.partition('+')[0]}") for pin in pinned):  # torch's: +cu130
            differing += pinned
    if differing:
        remedy = (
            f"`make environment` installs {', '.join(differing)}, as {lock.name} says; otherwise numbers may differ"
        )
        return Check("packages", WARNING, finding, remedy)
    return Check("packages", FINE, finding)


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def check_gpus(cuda: str | None, gpus: list[str], trainer: Trainer, precisions: set[str]) -> Check:
    """Check that this machine has the GPUs that training in some precisions asks for."""
    build = f"torch for CUDA {cuda}" if cuda else "torch without CUDA"
    finding = f"{', '.join(f'{count} x {name}' for name, count in Counter(gpus).items()) or 'none'}; {build}"
    devices = 1 if trainer.devices == "auto" else int(trainer.devices)
    if trainer.accelerator == "cpu":
        return Check("GPU", FINE, f"{finding}; the profile needs none")
    if not gpus and shutil.which("sbatch"):
        return Check("GPU", WARNING, finding, "Slurm assigns GPUs to jobs: run `recompose doctor` in one, too")
    if not gpus:
        needed = trainer.accelerator == "gpu" or "16-mixed" in precisions
        remedy = "check that `nvidia-smi` lists it" if cuda else "install a torch built for CUDA"
        choice = "the profile needs a GPU, or another accelerator and precision" if needed else "the CPU is slow"
        return Check("GPU", STOPS if needed else WARNING, finding, f"{choice}: {remedy}")
    if devices > len(gpus):
        return Check("GPU", STOPS, finding, f"trainer.devices of the profile is {devices}: lower it, or add GPUs")
    return Check("GPU", FINE, finding)


def check_disk(folder: Path) -> Check:
    """Check that the disk of a folder, or of the one that it will be made in, has space."""
    free = shutil.disk_usage(next(path for path in (folder, *folder.absolute().parents) if path.exists())).free
    title, finding = f"disk of {folder.name}/", f"{gibibytes(free)} free"
    if free < LEAST:
        return Check(title, STOPS, finding, f"free some, or make {folder.name}/ a link to a larger disk")
    return Check(title, FINE, finding)


def check_data(work: Workspace) -> Iterator[Check]:
    """Yield a check of each published data set, by its first recipe, and one of all that are downloaded by hand."""
    recipes = {recipe.name: recipe for recipe in reversed(work.plan.of("data")) if recipe.track}
    by_hand = []
    for recipe in reversed(recipes.values()):
        track, archives = track_of(work, recipe), archives_of(recipe)
        if track.is_synthetic(recipe) and not archives:
            continue
        path = track.mark(recipe, work.data)
        if path.exists():
            state = "there, checked and indexed" if work.store.is_complete(recipe) else "there; not checked yet"
            yield Check(recipe.name, FINE, state)
        elif archives:
            yield check_files(work, recipe.name, archives)
        else:
            by_hand.append((recipe, path))
    if by_hand:
        names, (recipe, path) = ", ".join(recipe.name for recipe, _ in by_hand), by_hand[0]
        remedy = (
            f"not redistributable; download manually, the first one to {path.relative_to(work.root).as_posix()} "
            f"(`recompose make {recipe.key}` lists its files), or remove them from the profile"
        )
        yield Check(pluralize(len(by_hand), "data set"), STOPS, f"absent: {names}", remedy)


def archives_of(recipe: Recipe) -> dict[str, str | None]:
    """Return the digests of the archives that a data set is unpacked from, as far as they are published, by their
    places below data/.
    """
    document = recipe.document
    archives = document.get("archives") or ({document["file"]: document["sha256"]} if "file" in document else {})
    return {f"archives/{file}": sha256 for file, sha256 in archives.items()}


def check_weights(work: Workspace) -> Iterator[Check]:
    """Yield a check of the weights of each backbone that is downloaded or released with the project."""
    for recipe in work.plan.of("backbones"):
        section = work.params.backbones[recipe.name]
        if isinstance(section, Bundled):
            path = work.root / "assets" / section.asset.file
            if fault := asset_fault(path, section.asset.sha256):
                yield Check(recipe.name, STOPS, f"{path} {fault}", "`git checkout -- assets` restores it")
            else:
                yield Check(recipe.name, FINE, f"released with the project, {gibibytes(path.stat().st_size)}")
        elif isinstance(section, Released | Classifier):
            yield check_files(work, recipe.name, {f"weights/{section.weights.file}": section.weights.sha256})


def check_files(work: Workspace, name: str, files: Mapping[str, str | None]) -> Check:
    """Check files below data against their digests in params.yaml or in the lock of archives."""
    locked, there = lock_entries(work.data), [place for place in files if (work.data / place).exists()]
    finding = f"{len(there)} of {pluralize(len(files), 'file')} there"
    for place in there:
        expected = expectation(locked.get(place), files[place])
        if expected and (wrong := expected.difference(work.data / place)):
            remedy = f"data/{place} has {wrong}: delete it to download it again, or correct {ARCHIVES_LOCK}"
            return Check(name, STOPS, finding, remedy)
    absent = len(files) - len(there)
    return Check(name, FINE, f"{finding}, {absent} to download" if absent else finding)
