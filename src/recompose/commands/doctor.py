"""`recompose doctor`: this machine, and what the chosen profile needs of it and of its disks. Nothing is asked of other
machines.
"""

import json
import os
import platform
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from recompose.backbones.published import weights_urls
from recompose.console import gibibytes, pluralize, print_findings, print_json
from recompose.data.upstream import LOCK as ARCHIVES_LOCK
from recompose.data.upstream import MIRROR, expectation, lock_entries, mirrors
from recompose.environment import LOCK, PACKAGES, processor_name
from recompose.params.sections import Archive, Bundled, Classifier, Released, Section, Trainer
from recompose.phases import asset_fault, track_of
from recompose.plan import Recipe
from recompose.workspace import Workspace

FINE, WARNING, STOPS = ("fine", "warning", "stops")
STYLES = {FINE: "green", WARNING: "yellow", STOPS: "bold red"}


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
    counts = Counter(check.state for check in checks)
    if as_json:
        print_json(checks)
    else:
        rows = ((check.subject, (check.state, STYLES[check.state]), check.finding, check.remedy) for check in checks)
        print_findings("check", rows)
        problems = f"{pluralize(counts[STOPS], 'problem')} would stop the workflow"
        warnings = f", {pluralize(counts[WARNING], 'warning')}" if counts[WARNING] else ""
        print(f"{problems if counts[STOPS] else 'nothing would stop the workflow'}{warnings}")
    return 1 if counts[STOPS] else 0


def examine(work: Workspace) -> list[Check]:
    """Return all checks, in the order in which a workflow needs their subjects."""
    trainer, runs = work.params.chosen.trainer, work.missing(work.plan.of("runs"))
    precisions = {str(run.document["trainer"]["precision"]) for run in runs if "trainer" in run.document}
    checks = [
        Check("Python", FINE, f"{platform.python_version()}, {platform.machine()}"),
        check_packages(work.root / LOCK),
        Check("processor", FINE, f"{os.cpu_count()} x {processor_name()}"),
        check_gpus(*torch_gpus(), trainer, precisions),
        *check_disks(work),
        *check_data(work),
        *check_weights(work),
    ]
    profile = work.params.profile
    if not any(check.state == STOPS for check in checks):
        return [*checks, Check("profile", FINE, profile)]
    remedy = "RECOMPOSE_PROFILE=demo needs no download and no GPU"
    return [*checks, Check("profile", WARNING, f"{profile} would stop", remedy)]


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
    installed, pins = dict[str, str](), dict[str, list[str]]()
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            installed[name] = version(name)
    for line in lock.read_text(encoding="utf-8").splitlines() if lock.exists() else ():
        name, _, pin = line.partition("==")
        if pin.split() and not line.startswith((" ", "#")):
            pins.setdefault(name.strip(), []).append(pin.split()[0])
    finding = ", ".join(f"{name} {installed.get(name, 'absent')}" for name in PACKAGES)
    if len(installed) < len(PACKAGES):
        return Check("packages", STOPS, finding, "make environment")
    differing = [
        f"{name} {' or '.join(pins[name])}"
        for name, number in installed.items()
        if name in pins and number.partition("+")[0] not in pins[name]  # torch's own append their CUDA version
    ]
    if differing:
        remedy = f"`make environment` installs {', '.join(differing)} from {lock.name}; otherwise numbers may differ"
        return Check("packages", WARNING, finding, remedy)
    return Check("packages", FINE, finding)


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


def check_disks(work: Workspace) -> Iterator[Check]:
    """Check that the recorded sizes of missing archives, twice as they are unpacked, fit on the disk of data/."""
    named, locked = {place for _, _, archives in published_data(work) for place in archives}, lock_entries(work.data)
    missing = [place for place in named if not (work.data / place).exists()]
    to_unpack = 2 * sum(locked[place].bytes for place in missing if place in locked)
    for folder, needed in ((work.data, to_unpack), (work.results, 0)):
        free = shutil.disk_usage(next(path for path in (folder, *folder.absolute().parents) if path.exists())).free
        more = f"; still to download and unpack, as far as it is known: {gibibytes(needed)}" if needed else ""
        lacking = f"free {gibibytes(needed - free)}, or make {folder.name}/ a link to a larger disk"
        remedy = lacking if needed > free else ""
        yield Check(f"disk of {folder.name}/", STOPS if remedy else FINE, f"{gibibytes(free)} free{more}", remedy)


def published_data(work: Workspace) -> Iterator[tuple[Recipe, Path, dict[str, Archive]]]:
    """Yield the published data sets of the profile: the first recipe, the folder or file that it reads, and, where that
    is absent, the archives that it is unpacked from by their places below data.
    """
    first = {recipe.name: recipe for recipe in reversed(work.plan.of("data")) if recipe.track}
    for recipe in reversed(first.values()):
        document = json.dumps(recipe.document, default=dict)
        archives = {
            f"archives/{archive.file}": archive
            for archive in archives_of(work.params.tracks[recipe.track])
            if json.dumps(archive.file) in document
        }
        if archives or not track_of(work, recipe).is_synthetic(recipe):
            path = track_of(work, recipe).mark(recipe, work.data)
            yield recipe, path, {} if path.exists() else archives


def check_data(work: Workspace) -> Iterator[Check]:
    """Yield a check of each published data set, and one of all that are downloaded by hand."""
    by_hand = []
    for recipe, path, archives in published_data(work):
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
        title = f"{len(by_hand)} data sets" if len(by_hand) > 1 else recipe.name
        yield Check(title, STOPS, f"absent: {names}", remedy)


def check_weights(work: Workspace) -> Iterator[Check]:
    """Yield a check of the weights of each backbone that is downloaded or released with the project."""
    for recipe in work.plan.of("backbones"):
        section = work.params.backbones[recipe.name]
        if isinstance(section, Bundled):
            path = work.assets / section.asset.file
            if fault := asset_fault(path, section.asset.sha256):
                yield Check(recipe.name, STOPS, f"{path} {fault}", "`git checkout -- assets` restores it")
            else:
                yield Check(recipe.name, FINE, f"released with the project, {gibibytes(path.stat().st_size)}")
        elif isinstance(section, Released | Classifier):
            weights = section.weights.model_copy(update={"urls": weights_urls(section)})
            yield check_files(work, recipe.name, {f"weights/{weights.file}": weights})


def check_files(work: Workspace, name: str, archives: dict[str, Archive]) -> Check:
    """Check files below data against their recorded digests; those that are absent need an address."""
    locked = lock_entries(work.data)
    there = [place for place in archives if (work.data / place).exists()]
    absent = [place for place in archives if place not in there]
    finding = f"{len(there)} of {pluralize(len(archives), 'file')} there"
    finding += f", {len(absent)} to download" if absent else ""
    for place in there:
        expected = expectation(locked.get(place), archives[place].sha256)
        if expected and (wrong := expected.difference(work.data / place)):
            remedy = f"data/{place} has {wrong}: delete it to download it again, or correct {ARCHIVES_LOCK}"
            return Check(name, STOPS, finding, remedy)
    for place in absent:
        if not mirrors(place, archives[place].urls):
            remedy = f"params.yaml has no address of data/{place}: download it manually, or set {MIRROR} to your server"
            return Check(name, STOPS, finding, remedy)
    return Check(name, FINE, finding)


def archives_of(section: Any) -> Iterator[Archive]:
    """Yield all files that a section of params.yaml names."""
    if isinstance(section, Archive):
        yield section
    elif isinstance(section, Section | dict | list):
        for value in section if isinstance(section, list) else dict(section).values():
            yield from archives_of(value)
