"""A few steps of each method on each data set with each backbone, on the device at hand: what they take.

Each is trained for one epoch by the code that trains it, on an index of the data set's size but for its images, and on
noise in place of images: no data has to be there, and no weights. Two lengths tell what an image takes from what a
run takes in any case.
"""

import gc
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from recompose.environment import environment
from recompose.files import read_json, write_json
from recompose.kernels import choose_linear
from recompose.machine import onednn_from
from recompose.monitor.arrays import layout
from recompose.phases import BACKBONE, track_of
from recompose.plan import Recipe
from recompose.store import COSTS
from recompose.timing import Timing, Timings, timing_kind
from recompose.training.hardware import Hardware
from recompose.workspace import Workspace

SHORT, LONG = 2, 6  # steps of the two trainings
BATCH = 64  # images, of a method that has no batches
WEIGHTS = "weights.safetensors"


@dataclass(frozen=True)
class Outcome:
    """What came of calibrating a run: what it takes, or why that cannot be told."""

    run: Recipe
    timing: Timing | None
    fault: str = ""


def representatives(work: Workspace, methods: Iterable[str] = ()) -> list[Recipe]:
    """A run of each method on each data set with each backbone, of those that are not calibrated here yet.

    Args:
        work: the workspace.
        methods: which; none: all.
    """
    wanted, known = set(methods), Timings.read(work.results).runs
    first: dict[Any, Recipe] = {}
    for run in sorted(work.plan.of("runs"), key=lambda run: run.labels["name"] != run.labels["method"]):
        first.setdefault(timing_kind(run), run)
    host = environment()["host"]
    return [
        run
        for kind, run in first.items()
        if (kind[0] in wanted if wanted else not (kind in known and known[kind].host == host))
    ]


def time_runs(work: Workspace, runs: Iterable[Recipe]) -> Iterator[Outcome]:
    """Calibrate runs one after another, and write down what each takes as soon as it is known."""
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
    except Exception as error:  # whatever it is: the others may still be calibrated
        return Outcome(run, None, (str(error) or repr(error)).splitlines()[0])
    finally:
        _forget()


def _timing(work: Workspace, run: Recipe, folder: Path, backbones: Path) -> Timing:
    batch = int(run.document["settings"].get("training", {}).get("batch_size", BATCH))
    short, long = (_needs(work, run, folder / f"{steps}-steps", backbones, steps * batch) for steps in (SHORT, LONG))
    _seconds(work, run, short, folder / "warm")
    seconds, longer = _seconds(work, run, short, folder / "short"), _seconds(work, run, long, folder / "long")
    an_image = max(longer - seconds, 0.0) / ((LONG - SHORT) * batch)
    method, dataset, backbone = timing_kind(run)
    made = environment()
    return Timing(
        method=method,
        dataset=dataset,
        backbone=backbone,
        setup_seconds=round(max(seconds - SHORT * batch * an_image, 0.0), 3),
        image_seconds=an_image,
        memory_bytes=read_json(folder / "long" / COSTS)["peak_memory_bytes"],
        steps=LONG - SHORT,
        host=made["host"],
        device=made["device"],
    )


def _seconds(work: Workspace, run: Recipe, needs: Mapping[str, Path], folder: Path) -> float:
    """What a training of one epoch takes."""
    folder.mkdir(parents=True)
    trainer = work.params.chosen.trainer.model_dump(include={"precision", "accelerator"})
    began = time.perf_counter()
    track_of(run).train(_one_epoch(run.document), needs, folder, Hardware(**trainer, devices=1), run.name)
    return time.perf_counter() - began


def _one_epoch(document: Mapping[str, Any]) -> dict[str, Any]:
    """The same run, cut short."""
    settings = dict(document["settings"])
    if "epochs" in settings.get("training", {}):
        settings["training"] = {**settings["training"], "epochs": 1}
    return {**document, "settings": settings}


def _needs(work: Workspace, run: Recipe, folder: Path, backbones: Path, images: int) -> dict[str, Path]:
    """What stands for all that a run needs, with so many images to train on."""
    index = folder / "data"
    index.mkdir(parents=True)
    track_of(run).synthetic_index(run.needs["data"], index, images)
    needs = {"data": index}
    for role, need in run.needs.items():
        if need.kind == "backbones":
            needs[role] = _backbone(work, need, backbones / need.folder)
        elif role not in needs:
            needs[role] = folder / role
            _write_noise(need, needs[role], _images(run, need, index))
    return needs


def _images(run: Recipe, cached: Recipe, index: Path) -> int:
    track = track_of(run)
    return len(track.images(index) if cached.kind == "grids" else track.pictures(index))


def _write_noise(cached: Recipe, folder: Path, images: int) -> None:
    """Write the array of a cache, of noise."""
    known, rng = layout(cached), np.random.default_rng(0)
    if known is None:
        raise ValueError(f"{cached.name}: what it holds is not known before it is there")
    folder.mkdir(parents=True)
    shape = (images, *known.shape)
    array = np.lib.format.open_memmap(folder / known.file, mode="w+", dtype=known.dtype, shape=shape)
    for place in range(images):
        noise = rng.integers(0, 256, known.shape) if known.dtype == "uint8" else rng.normal(size=known.shape)
        array[place] = noise.astype(known.dtype)
    array.flush()


def _backbone(work: Workspace, recipe: Recipe, folder: Path) -> Path:
    """The folder of a backbone, or of one of random weights, which take as long."""
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


def _forget() -> None:
    """Give back what a training held on a GPU."""
    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
