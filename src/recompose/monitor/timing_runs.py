"""Timing runs: a few training steps of each method on each data set with each backbone, on this machine's device.

Each run trains for one epoch with the code of real runs. Its index has the data set's size except for the number of
images, and noise replaces the images, so neither data nor weights are needed. Two lengths separate the time per image
from the constant time of a run.
"""

import gc
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from recompose.environment import environment
from recompose.files import read_json, write_json
from recompose.kernels import choose_linear
from recompose.machine import onednn_from
from recompose.monitor.arrays import layout
from recompose.phases import BACKBONE, track_of
from recompose.plan import Document, Recipe
from recompose.records import COSTS
from recompose.timing import Kind, Timing, Timings, timing_kind
from recompose.training.hardware import Hardware
from recompose.workspace import Workspace

SHORT, LONG = 2, 6  # steps of the two trainings
BATCH = 64  # images, of methods without a batch size
WEIGHTS = "weights.safetensors"


@dataclass(frozen=True)
class Outcome:
    """The result of timing a run: its cost, or the reason why it failed."""

    run: Recipe
    timing: Timing | None
    fault: str = ""


def representatives(work: Workspace, methods: Iterable[str] = ()) -> list[Recipe]:
    """Return one run of each method on each data set with each backbone that is not timed on this machine yet.

    Args:
        work: the workspace.
        methods: the methods to time, again where they are timed already; all where empty.
    """
    chosen, timings = set(methods), Timings.read(work.results).runs
    first: dict[Kind, Recipe] = {}
    for run in sorted(work.plan.of("runs"), key=lambda run: run.labels["name"] != run.labels["method"]):
        first.setdefault(timing_kind(run), run)
    host = environment()["host"]
    return [
        run
        for kind, run in first.items()
        if (kind[0] in chosen if chosen else not (kind in timings and timings[kind].host == host))
    ]


def time_runs(work: Workspace, runs: Iterable[Recipe]) -> Iterator[Outcome]:
    """Time runs one after another, and write each result as soon as it is there."""
    work.results.mkdir(parents=True, exist_ok=True)
    choose_linear(onednn_from(work.params.chosen.trainer.linear))
    with TemporaryDirectory(dir=work.results, prefix=".timing-") as folder:
        for number, run in enumerate(runs):
            outcome = _outcome(work, run, Path(folder) / str(number), Path(folder) / "backbones")
            if outcome.timing:
                Timings.read(work.results).write(work.results, [outcome.timing])
            yield outcome


def _outcome(work: Workspace, run: Recipe, folder: Path, backbones: Path) -> Outcome:
    try:
        return Outcome(run, _timing(work, run, folder, backbones))
    except Exception as error:  # any method may fail; the others are still timed
        return Outcome(run, None, (str(error) or repr(error)).splitlines()[0])
    finally:
        _free_memory()


def _timing(work: Workspace, run: Recipe, folder: Path, backbones: Path) -> Timing:
    batch = int(run.document["settings"].get("training", {}).get("batch_size", BATCH))
    short, long = (_needs(work, run, folder / f"{steps}-steps", backbones, steps * batch) for steps in (SHORT, LONG))
    _seconds(work, run, short, folder / "warm")
    seconds, longer = _seconds(work, run, short, folder / "short"), _seconds(work, run, long, folder / "long")
    image_seconds = max(longer - seconds, 0.0) / ((LONG - SHORT) * batch)
    method, dataset, backbone = timing_kind(run)
    host = environment()
    return Timing(
        method=method,
        dataset=dataset,
        backbone=backbone,
        setup_seconds=round(max(seconds - SHORT * batch * image_seconds, 0.0), 3),
        image_seconds=image_seconds,
        memory_bytes=read_json(folder / "long" / COSTS)["peak_memory_bytes"],
        steps=LONG - SHORT,
        host=host["host"],
        device=host["device"],
    )


def _seconds(work: Workspace, run: Recipe, needs: Mapping[str, Path], folder: Path) -> float:
    """Return the seconds of a training of one epoch."""
    folder.mkdir(parents=True)
    trainer = work.params.chosen.trainer.model_dump(include={"precision", "accelerator"})
    began = time.perf_counter()
    track_of(run).train(_one_epoch(run), needs, folder, Hardware(**trainer, devices=1), run.name)
    return time.perf_counter() - began


def _one_epoch(run: Recipe) -> Document:
    """Return the document of a run with one epoch."""
    settings = dict(run.document["settings"])
    if "epochs" in settings.get("training", {}):
        settings["training"] = {**settings["training"], "epochs": 1}
    return {**run.document, "settings": settings}


def _needs(work: Workspace, run: Recipe, folder: Path, backbones: Path, images: int) -> dict[str, Path]:
    """Write replacements for everything that a run needs, with so many training images; return their folders."""
    index = folder / "data"
    index.mkdir(parents=True)
    track_of(run).synthetic_index(run.needs["data"], index, images)
    needs = {"data": index}
    for role, need in run.needs.items():
        if need.kind == "backbones":
            needs[role] = _backbone(work, need, backbones / need.folder)
        elif role not in needs:
            needs[role] = folder / role
            _write_noise(need, needs[role], _image_count(run, need, index))
    return needs


def _image_count(run: Recipe, cached: Recipe, index: Path) -> int:
    track = track_of(run)
    return len(track.images(index) if cached.kind == "grids" else track.pictures(index))


def _write_noise(cached: Recipe, folder: Path, images: int) -> None:
    """Write the array of a cache, filled with noise."""
    array_layout, rng = layout(cached), np.random.default_rng(0)
    if array_layout is None:
        raise ValueError(f"{cached.name}: the shape of its array is unknown before it exists")
    folder.mkdir(parents=True)
    shape = (images, *array_layout.shape)
    array = np.lib.format.open_memmap(folder / array_layout.file, mode="w+", dtype=array_layout.dtype, shape=shape)
    for place in range(images):
        is_uint8 = array_layout.dtype == "uint8"
        noise = rng.integers(0, 256, array_layout.shape) if is_uint8 else rng.normal(size=array_layout.shape)
        array[place] = noise.astype(array_layout.dtype)
    array.flush()


def _backbone(work: Workspace, recipe: Recipe, folder: Path) -> Path:
    """Return the folder of a backbone, or of one with random weights, which takes the same time."""
    if work.store.is_complete(recipe):
        work.store.verify(recipe)
        return work.store.folder(recipe)
    if not folder.exists():
        from safetensors.torch import save_file

        from recompose.backbones.clip import build

        architecture, activation = recipe.document["architecture"], recipe.document["activation"]
        name = architecture if isinstance(architecture, str) else architecture["name"]
        folder.mkdir(parents=True)
        save_file(build(name, activation).model.state_dict(), folder / WEIGHTS)
        write_json(folder / BACKBONE, {"architecture": name, "activation": activation, "weights": WEIGHTS})
    return folder


def _free_memory() -> None:
    """Free the GPU memory of a training."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
