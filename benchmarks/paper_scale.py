"""Run the profile ``paper`` on stand-ins of the published data, from archives to audit, and time each step.

    RECOMPOSE_REAL_DATA=... python -m benchmarks.paper_scale --share 0.1 --folder /tmp/scale --datasets mit-states

writes archives as their publishers pack them (with a share of the images, and all labels) and random weights of the
backbones' architectures into the data of a scratch project. Then it makes what the profile asks for, with one seed and
one epoch of a few batches; validation and evaluation are whole. Run again, it resumes. A step that fails is named, the
steps that do not need it continue, and the exit status is 1. A table of all that was made comes last. Numbers in the
reports mean nothing.

On a CPU, ``--clip stand-in --classifier resnet18`` takes small towers for images of the same size. Methods that attend
from each pair to each image (troika, msci, duplex) are slow in the open world: ``--methods`` leaves them out.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import open_clip
import pytorch_lightning as pl

from benchmarks.machine import machine
from benchmarks.stand_ins.project import ARCHITECTURES, Scope, read_params, write_params
from benchmarks.stand_ins.weights import add_weights
from recompose import phases
from recompose.errors import FailedError
from recompose.files import read_json
from recompose.tracks.building import COSTS
from recompose.workspace import Workspace

WRITERS = {"czsl": "pairs", "gzsl": "classes"}  # track -> the module that writes its stand-ins
DATASETS = {"czsl": ("mit-states", "ut-zappos", "cgqa"), "gzsl": ("cub", "sun", "awa2")}
HEADER = "| data set | step | of | seconds | MiB stored | peak MiB |\n| --- | --- | --- | ---: | ---: | ---: |"


def prepare(scope: Scope, real: Path, share: float, project: Path) -> None:
    """Write stand-ins where they are not there yet, and params.yaml with their counts of images."""
    params = read_params()
    for track in scope.datasets:
        writer = import_module(f"benchmarks.stand_ins.{WRITERS[track]}")
        for name, counts in writer.write(real, share, project / "data/archives").items():
            params[track]["datasets"][name]["counts"] |= counts
    add_weights(params, scope, project / "data/weights")
    write_params(project, params, scope)


def cut_epochs(batches: int) -> None:
    """Let every epoch of training end after so many batches; nothing else about a run changes, nor its identity."""

    class Shortened(pl.Trainer):
        def __init__(self, **settings: Any) -> None:
            super().__init__(limit_train_batches=batches, **settings)

    pl.Trainer = Shortened  # type: ignore[misc]


def carry_out(work: Workspace) -> bool:
    """Make all results, artifacts and the report, and audit them; return whether all succeeded."""
    commands = [*(["artifacts", paper.name] for paper in work.papers), ["report"], ["audit"]]
    try:
        phases.make(work, work.plan.recipes)
    except FailedError as error:
        print(error, file=sys.stderr)
        return False
    python = (sys.executable, "-m", "recompose")
    return not any(subprocess.run([*python, *command], cwd=work.root, check=False).returncode for command in commands)


def rows(work: Workspace) -> Iterator[str]:
    """Yield a row of the table for each stored result."""
    for recipe in filter(work.store.is_complete, work.plan.recipes):
        record, folder = work.store.record(recipe), work.store.folder(recipe)
        size = sum(file.bytes for file in record.files.values()) / 2**20
        peak = read_json(folder / COSTS).get("peak_memory_bytes") if (folder / COSTS).exists() else None
        words = recipe.labels.get("dataset", ""), recipe.kind, recipe.labels.get("name", "")
        numbers = f"{record.made.seconds:.1f}", f"{size:,.1f}", f"{peak / 2**20:,.0f}" if peak else ""
        yield f"| {' | '.join(map(str, (*words, *numbers)))} |"


def main() -> None:
    """Run the profile, and print the table."""
    known = [name for names in DATASETS.values() for name in names]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="for the scratch project; of one share of images")
    parser.add_argument("--share", type=float, default=0.1, help="of the published images (%(default)s)")
    parser.add_argument("--datasets", nargs="+", choices=known, default=known, metavar="NAME", help=", ".join(known))
    parser.add_argument("--methods", nargs="+", default=[], help="all of the data sets' tracks")
    parser.add_argument("--batches", type=int, default=4, help="after which an epoch ends (%(default)s)")
    parser.add_argument("--clip", help="an architecture of open_clip, or stand-in, in the place of each CLIP's own")
    parser.add_argument("--classifier", help="an architecture of torchvision in the place of each classifier's own")
    arguments = parser.parse_args()
    real = Path(os.environ.get("RECOMPOSE_REAL_DATA") or parser.error("RECOMPOSE_REAL_DATA names no folder"))
    chosen = {track: [name for name in names if name in arguments.datasets] for track, names in DATASETS.items()}
    datasets = {track: names for track, names in chosen.items() if names}
    project = arguments.folder.resolve()
    open_clip.add_model_config(ARCHITECTURES)
    prepare(Scope(datasets, arguments.methods, arguments.clip, arguments.classifier), real, arguments.share, project)
    cut_epochs(arguments.batches)
    work = Workspace(project)
    is_complete = carry_out(work)
    print(f"Measured on {machine()}, {arguments.share:.0%} of the images.\n\n{HEADER}", *rows(work), sep="\n")
    sys.exit(not is_complete)


if __name__ == "__main__":
    main()
