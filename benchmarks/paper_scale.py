"""The profile ``paper`` from archives to audit on stand-ins of the published data, and what each step takes.

    RECOMPOSE_REAL_DATA=... python -m benchmarks.paper_scale --share 0.1 --folder /tmp/scale --datasets mit-states

makes archives as upstream packs them (a share of the images, none of the labels is lost), random weights of the
backbones' architectures and a scratch project, serves them on loopback, and carries out phase by phase what the profile
asks for, with one seed, one epoch, and of that epoch so many batches. What is there is not made again. A command that
fails is named with its log, and the next one goes on.

On a CPU ``--clip ViT-S-32 --classifier resnet18`` takes small towers that see pictures of the same size; caches of
pixels are then as large as the papers' are, those of embeddings and grids smaller.
"""

import argparse
import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.machine import machine
from benchmarks.stand_ins import project
from benchmarks.stand_ins.measuring import Taken, bytes_below, taken
from benchmarks.stand_ins.mirror import mirrored
from benchmarks.stand_ins.project import ROOT, Scope
from recompose.phases import PHASES
from recompose.plan import Recipe, closure
from recompose.tracks import TRACKS
from recompose.workspace import Workspace

DATASETS = {
    "czsl": ("mit-states", "ut-zappos", "cgqa"),
    "gzsl": ("cub", "sun", "awa2"),
    "vlc": ("coco-100k",),
}
SUITES = ("coco", "sugarcrepe", "valse", "comvg")
SUITES_FOLDER = "suites"  # beside archives: of what is put into data/vlc by hand
REPORTED = ("artifacts", "report", "audit")
MEBI = 2**20


@dataclass(frozen=True)
class Row:
    """What a step took."""

    phase: str
    what: str
    images: int
    stored: int  # bytes
    taken: Taken
    gpu: int = 0  # bytes

    @property
    def line(self) -> str:
        """A row of the Markdown table."""
        rate = f"{self.images / self.taken.seconds:.1f}" if self.images else ""
        failed = "" if self.taken.code == 0 else f" (ended with {self.taken.code})"
        cells = (
            f"{self.what}{failed}",
            f"{self.images:,}" if self.images else "",
            f"{self.taken.seconds:.1f}",
            f"{self.stored / MEBI:,.1f}",
            rate,
            f"{self.taken.peak / MEBI:,.0f}",
            f"{self.gpu / MEBI:,.0f}" if self.gpu else "",
        )
        return f"| {self.phase} | {' | '.join(cells)} |"


HEADER = (
    "| phase | what | images | seconds | MiB stored | images/s | peak MiB | of GPU |\n"
    "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
)


class Bench:
    """A folder with stand-ins and the scratch project that they are for."""

    def __init__(self, folder: Path, share: float, batches: int) -> None:
        self.mirror, self.project = folder / "mirror", folder / "project"
        self._counts, self._logs, self._batches = folder / "counts.json", folder / "logs", batches
        self._share = share
        self._check_share(folder / "share.json")

    def _check_share(self, note: Path) -> None:
        """Stand-ins of two shares would be mixed up."""
        note.parent.mkdir(parents=True, exist_ok=True)
        if note.exists() and (there := json.loads(note.read_text())) != self._share:
            sys.exit(f"{note.parent} holds stand-ins with a share of {there}: take another folder, or --share {there}")
        note.write_text(json.dumps(self._share))

    def make_stand_ins(self, scope: Scope) -> Iterator[Row]:
        """Make the archives of each track, where they are not there; the counts of their images are kept."""
        known = json.loads(self._counts.read_text()) if self._counts.exists() else {}
        for track in scope.datasets:
            before = bytes_below(self.mirror)
            command = [sys.executable, "-m", "benchmarks.stand_ins.writing", track, str(self._share), str(self.mirror)]
            spent = taken([*command, str(self._track_counts(track))], ROOT, {}, self._logs / f"stand-ins-{track}.log")
            if spent.code:
                sys.exit(f"no stand-ins: see {self._logs / f'stand-ins-{track}.log'}")
            known |= json.loads(self._track_counts(track).read_text())
            yield Row("stand-ins", track, 0, bytes_below(self.mirror) - before, spent)
        self._counts.write_text(json.dumps(known, indent=2))

    def put_by_hand(self) -> None:
        """Put what is not downloaded, the suites, where params.yaml wants it."""
        made, place = self.mirror / SUITES_FOLDER, self.project / "data" / "vlc"
        if made.exists() and not place.exists():
            shutil.copytree(made, place, copy_function=os.link)

    def _track_counts(self, track: str) -> Path:
        return self._counts.with_name(f"counts-{track}.json")

    def make_weights(self, params: dict[str, Any], scope: Scope) -> dict[str, dict[str, Any]]:
        """Make the weights of the scope's backbones where they are not there; gives their sections, which name them."""
        from benchmarks.stand_ins.weights import classifier_weights, clip_weights

        sections = project.backbones_of(params, scope)
        for section in sections.values():
            architecture = section["architecture"]
            if "activation" in section:
                file = project.weights_file(architecture)
                clip_weights(architecture, section["activation"], self.mirror / file)
            else:
                file = classifier_weights(architecture, self.mirror)
            section["weights"] = {**section["weights"], "file": file}
        return sections

    def made(self, recipe: Recipe) -> Row:
        """Make a recipe whose needs are made."""
        gpu = self._logs / "gpu-memory"
        gpu.unlink(missing_ok=True)
        cut = ["--batches", str(self._batches)] if recipe.kind == "runs" else []
        counts = ["--counts", str(self._counts)] if recipe.kind == "data" else []
        shortened = ["-m", "benchmarks.stand_ins.shortened", "--gpu-memory", str(gpu), *counts, *cut]
        log = self._logs / recipe.kind / f"{recipe.folder}.log"
        spent = self._python([*shortened, "make", recipe.key], log)
        work = Workspace(self.project)
        folders = [work.store.folder(recipe), *([work.data / recipe.name] if recipe.kind == "data" else [])]
        stored = sum(bytes_below(folder) for folder in folders if folder.is_dir())
        peak = int(gpu.read_text()) if gpu.exists() else 0
        return Row(recipe.kind, recipe.name, self._images(work, recipe), stored, spent, peak)

    def reported(self, phase: str, *command: str) -> Row:
        """Carry out a command on the reports."""
        spent = self._python(["-m", "recompose", *command], self._logs / phase / f"{'-'.join(command)}.log")
        return Row(phase, " ".join(command[1:]) or phase, 0, bytes_below(self.project / "reports"), spent)

    def _python(self, arguments: Sequence[str], log: Path) -> Taken:
        path = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        return taken([sys.executable, *arguments], self.project, {"PYTHONPATH": path.rstrip(os.pathsep)}, log)

    def _images(self, work: Workspace, recipe: Recipe) -> int:
        """The images that a step goes through; of a training those of one epoch."""
        if recipe.kind == "backbones":
            return 0
        own = [each for each in (*recipe.needs.values(), recipe) if each.kind == "data" and _has_images(each)]
        sizes = [TRACKS[data.track].size(data, work.store.folder(data)) for data in own]
        if recipe.kind == "runs":
            train = sum(parts.get("train", 0) for parts in sizes)
            return min(self._batches * int(recipe.document["settings"]["training"].get("batch_size", train)), train)
        tested = recipe.kind == "evaluations"
        return sum(count for parts in sizes for part, count in parts.items() if not (tested and part == "train"))


def _has_images(recipe: Recipe) -> bool:
    return bool(recipe.track) and "adapter" in recipe.document


def wanted(work: Workspace, variants: bool) -> dict[str, list[Recipe]]:
    """What is made, by phase: all that the methods need, of variants only what they share with these."""
    methods = {name for track in work.plan.tracks.values() for name in track.methods}
    evaluations = [each for each in work.plan.of("evaluations") if variants or each.labels["name"] in methods]
    needed = list(closure(evaluations))
    return {phase: [recipe for recipe in needed if recipe.kind == phase] for phase in PHASES}


def carried_out(bench: Bench, phases: Iterable[str], variants: bool) -> Iterator[Row]:
    """The rows of phases, one after another."""
    work = Workspace(bench.project)
    recipes = wanted(work, variants)
    for phase in phases:
        for recipe in recipes.get(phase, ()):
            if lacking := work.missing(recipe.needs.values()):
                print(f"{recipe.name}: not made, for {lacking[0].name} is not there", file=sys.stderr)
            elif not work.store.is_complete(recipe):
                yield bench.made(recipe)
        if phase == "artifacts":
            for paper in work.papers:
                yield bench.reported(phase, "artifacts", paper.name)
        elif phase in REPORTED:
            yield bench.reported(phase, phase)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=0.1, help="of the published images")
    parser.add_argument("--folder", type=Path, required=True, help="for stand-ins, scratch project and logs")
    parser.add_argument("--datasets", type=_names, default=[name for names in DATASETS.values() for name in names])
    parser.add_argument("--suites", type=_names, default=list(SUITES))
    parser.add_argument("--methods", type=_names, default=[], help="all where none is named")
    parser.add_argument("--variants", action="store_true", help="also the papers' ablations and sweeps")
    parser.add_argument("--phases", type=_names, default=[*PHASES, *REPORTED])
    parser.add_argument("--batches", type=int, default=4, help="after which an epoch ends")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--clip", help="an architecture of open_clip in the place of each CLIP's")
    parser.add_argument("--classifier", help="an architecture of torchvision in the place of each classifier's")
    arguments = parser.parse_args()
    known = [name for names in DATASETS.values() for name in names]
    for given, allowed in ((arguments.datasets, known), (arguments.phases, [*PHASES, *REPORTED])):
        if unknown := [name for name in given if name not in allowed]:
            parser.error(f"{unknown[0]} is none of {', '.join(allowed)}")
    if not 0 < arguments.share <= 1:
        parser.error("--share is more than 0 and at most 1")
    if not os.environ.get("RECOMPOSE_REAL_DATA"):
        parser.error("RECOMPOSE_REAL_DATA has to name a folder of real annotation files")
    return arguments


def main() -> None:
    """Carry out what is asked for, and print a Markdown table row by row."""
    import torch

    arguments = _arguments()
    gpu = torch.cuda.is_available()
    chosen = {track: [name for name in names if name in arguments.datasets] for track, names in DATASETS.items()}
    scope = Scope(
        {track: names for track, names in chosen.items() if names},
        arguments.suites,
        arguments.methods,
        arguments.threads,
        gpu,
        arguments.clip,
        arguments.classifier,
    )
    bench = Bench(arguments.folder.resolve(), arguments.share, arguments.batches)
    where = torch.cuda.get_device_name() if gpu else "no GPU"
    print(f"Measured on {machine()}, {where}: a share of {arguments.share:g}, {arguments.batches} batches an epoch.\n")
    print(HEADER, flush=True)
    for row in bench.make_stand_ins(scope):
        print(row.line, flush=True)
    params = project.read_params()
    sections = bench.make_weights(params, scope)
    bench.put_by_hand()
    with mirrored(bench.mirror) as address:
        project.write_params(bench.project, project.profile(params, scope, sections, address))
        for row in carried_out(bench, arguments.phases, arguments.variants):
            print(row.line, flush=True)


if __name__ == "__main__":
    main()
