"""The profile ``paper`` from archives to audit on stand-ins of the published data, and what each step takes.

    RECOMPOSE_REAL_DATA=... python -m benchmarks.paper_scale --share 0.1 --folder /tmp/scale --datasets mit-states

makes archives as upstream packs them (a share of the images, none of the labels is lost), random weights of the
backbones' architectures and a scratch project, serves them on loopback, and carries out phase by phase what the profile
asks for, with one seed, one epoch, and of that epoch so many batches; validation and evaluation are whole. Each step is
a process of its own. Started again it goes on: what is there is not made again. A step that fails is named with its
log, those that do not need it go on, and the exit status is 1.

At the end stands a table of all steps, those of earlier starts in the same folder with them: images, seconds of the
process (and of these what making took without starting and checking), bytes on disk, and the most memory that its
processes took together. Numbers in the reports mean nothing.

On a CPU ``--clip stand-in --classifier resnet18`` takes small towers that see pictures of the same size: caches of
pixels are then as large as the papers' are, those of embeddings and grids smaller. ``--grids 128`` shows the classifier
smaller pictures. ``--longest 300`` ends a step after so many seconds, and says so: methods that attend from each pair
to each image (troika, msci, duplex) take longer than that for the open world of MIT-States.
"""

import argparse
import json
import os
import shutil
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from math import inf
from pathlib import Path
from typing import Any

from benchmarks.machine import machine
from benchmarks.stand_ins import project
from benchmarks.stand_ins.measuring import TOO_LONG, Taken, bytes_below, taken
from benchmarks.stand_ins.mirror import mirrored
from benchmarks.stand_ins.project import ARCHITECTURES, ROOT, Scope
from benchmarks.stand_ins.steps import Step, Steps
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
SUITES_FOLDER = "suites"  # beside archives: of what is put below data by hand
REPORTED = ("artifacts", "report", "audit")
FIXED = ("share", "batches", "threads", "clip", "classifier", "grids")  # of what a folder holds


class Bench:
    """A folder with stand-ins and the scratch project that they are for."""

    def __init__(self, folder: Path, share: float, batches: int, longest: float) -> None:
        self.mirror, self.project = folder / "mirror", folder / "project"
        self._counts, self._logs = folder / "counts.json", folder / "logs"
        self._share, self._batches, self._longest = share, batches, longest

    def make_stand_ins(self, scope: Scope) -> Iterator[Step]:
        """Make the archives of each track, where they are not there; the counts of their images are kept."""
        known = json.loads(self._counts.read_text()) if self._counts.exists() else {}
        for track in scope.datasets:
            counts = self._counts.with_name(f"counts-{track}.json")
            if not counts.exists():
                before, log = bytes_below(self.mirror), self._log("stand-ins", track)
                arguments = ["benchmarks.stand_ins.writing", track, str(self._share), str(self.mirror), str(counts)]
                spent = self._python(["-m", *arguments], ROOT, log)
                if spent.code:
                    sys.exit(f"no stand-ins of {track}: see {log}")
                yield _step(track, "stand-ins", "", 0, bytes_below(self.mirror) - before, spent)
            known |= json.loads(counts.read_text())
        self._counts.write_text(json.dumps(known, indent=2))

    def recount(self, params: dict[str, Any]) -> None:
        """Put the counts of stand-ins in the place of those that params.yaml has of published data."""
        for place, counts in json.loads(self._counts.read_text()).items():
            if ".datasets." in place:
                track, _, name = place.split(".")
                params[track]["datasets"][name]["counts"] |= counts

    def put_by_hand(self) -> None:
        """Put suites, which are not downloaded, where params.yaml wants them."""
        made, place = self.mirror / SUITES_FOLDER, self.project / "data/vlc"
        if made.exists() and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(made, place, copy_function=os.link)

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

    def made(self, work: Workspace, recipe: Recipe) -> Step:
        """Make a recipe whose needs are made."""
        gpu, log = self._logs / "gpu-memory", self.log(recipe)
        gpu.unlink(missing_ok=True)
        spent = self._recompose(["--gpu-memory", str(gpu), *self._cut(recipe), "make", recipe.key], log)
        folders = [work.store.folder(recipe), *([work.data / recipe.name] if recipe.kind == "data" else [])]
        stored = sum(bytes_below(folder) for folder in folders if folder.is_dir())
        build = work.store.record(recipe).made if spent.code == 0 else None
        return _step(
            recipe.labels.get("dataset", ""),
            recipe.kind,
            recipe.labels.get("name") or recipe.labels.get("backbone", ""),
            self._images(work, recipe),
            stored,
            spent,
            making=build.seconds if build else 0.0,
            attempts=build.attempts if build else 1,
            gpu=int(gpu.read_text()) if gpu.exists() else 0,
        )

    def _cut(self, recipe: Recipe) -> list[str]:
        """What makes the command shorter than the published data and settings have it."""
        cut = ["--batches", str(self._batches)] if recipe.kind == "runs" else []
        counts = ["--counts", str(self._counts)] if recipe.kind == "data" else []
        towers = any(need.kind == "backbones" for need in closure(recipe.needs.values()))
        return [*counts, *cut, *(["--architectures", str(ARCHITECTURES)] if towers else [])]

    def reported(self, phase: str, *command: str) -> Step:
        """Carry out a command on the reports."""
        name = "".join(command[1:])
        spent = self._recompose(command, self._log(phase, name or phase))
        made = 0 if phase == "audit" else bytes_below(self.project / "reports" / name)
        return _step(name, phase, "", 0, made, spent)

    def log(self, recipe: Recipe) -> Path:
        """Where a recipe's process says what it does."""
        return self._log(recipe.kind, f"{recipe.folder}")

    def _log(self, phase: str, name: str) -> Path:
        return self._logs / phase / f"{name}.log"

    def _recompose(self, arguments: Sequence[str], log: Path) -> Taken:
        return self._python(["-m", "benchmarks.stand_ins.shortened", *arguments], self.project, log)

    def _python(self, arguments: Sequence[str], folder: Path, log: Path) -> Taken:
        path = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
        variables = {"PYTHONPATH": path.rstrip(os.pathsep)}
        return taken([sys.executable, *arguments], folder, variables, log, self._longest)

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


def _step(dataset: str, phase: str, of: str, images: int, stored: int, spent: Taken, **others: Any) -> Step:
    return Step(dataset, phase, of, images, spent.seconds, stored, spent.peak, code=spent.code, **others)


def carried_out(bench: Bench, phases: Iterable[str]) -> Iterator[Step]:
    """The steps of phases, one after another."""
    work = Workspace(bench.project)
    for phase in phases:
        for recipe in work.plan.of(phase):
            if lacking := work.missing(recipe.needs.values()):
                _say(f"{recipe.name}: not made, for {lacking[0].name} is not there")
            elif not work.store.is_complete(recipe):
                step = bench.made(work, recipe)
                if step.code:
                    why = "not finished" if step.code == TOO_LONG else "failed"
                    _say(f"{recipe.name}: {why}, see {bench.log(recipe)}")
                yield step
        if phase == "artifacts":
            for paper in work.papers:
                yield bench.reported(phase, "artifacts", paper.name)
        elif phase in REPORTED:
            yield bench.reported(phase, phase)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = [name for names in DATASETS.values() for name in names]
    phases = [*PHASES, *REPORTED]
    parser.add_argument("--folder", type=Path, required=True, help="for stand-ins, scratch project, logs and the table")
    parser.add_argument("--share", type=float, default=0.1, help="of the published images (%(default)s)")
    parser.add_argument("--datasets", type=_names, default=known, help=f"of {', '.join(known)}; all")
    parser.add_argument("--methods", type=_names, default=[], help="all of the data sets' tracks")
    parser.add_argument("--suites", type=_names, default=list(SUITES), help=f"of {', '.join(SUITES)}; all")
    parser.add_argument("--variants", action="store_true", help="also the papers' ablations and sweeps")
    parser.add_argument("--phases", type=_names, default=phases, help=f"of {', '.join(phases)}; all")
    parser.add_argument("--batches", type=int, default=4, help="after which an epoch ends (%(default)s)")
    parser.add_argument("--longest", type=float, default=inf, help="seconds after which a step is ended")
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="of a process (%(default)s)")
    parser.add_argument("--clip", help="an architecture of open_clip, or stand-in, in the place of each CLIP's own")
    parser.add_argument("--classifier", help="an architecture of torchvision in the place of each classifier's own")
    parser.add_argument("--grids", type=int, help="pixels of the pictures that become grids, in place of the papers'")
    arguments = parser.parse_args()
    for given, allowed in ((arguments.datasets, known), (arguments.suites, SUITES), (arguments.phases, phases)):
        if unknown := [name for name in given if name not in allowed]:
            parser.error(f"{unknown[0]} is none of {', '.join(allowed)}")
    if not 0 < arguments.share <= 1:
        parser.error("--share is more than 0 and at most 1")
    if arguments.batches < 1:
        parser.error("--batches is at least 1")
    if not Path(os.environ.get("RECOMPOSE_REAL_DATA", "")).is_dir() or not os.environ.get("RECOMPOSE_REAL_DATA"):
        parser.error("RECOMPOSE_REAL_DATA has to name a folder of real annotation files")
    return arguments


def _check_fixed(folder: Path, arguments: argparse.Namespace) -> None:
    """One folder holds what was made with one share, one length of epochs and one choice of towers."""
    note, here = folder / "settings.json", {name: getattr(arguments, name) for name in FIXED}
    folder.mkdir(parents=True, exist_ok=True)
    there = json.loads(note.read_text()) if note.exists() else here
    for name in (name for name in FIXED if there.get(name) != here[name]):
        option = f"--{name.replace('_', '-')} {there.get(name)}"
        sys.exit(f"{folder} was begun with {option}: take that again, or another folder")
    note.write_text(json.dumps(here))


def main() -> None:
    """Carry out what is asked for, say step by step how long it took, and print the table of all that was."""
    import torch

    arguments, gpu = _arguments(), torch.cuda.is_available()
    folder = arguments.folder.resolve()
    _check_fixed(folder, arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that the step under way ends, too
    chosen = {track: [name for name in names if name in arguments.datasets] for track, names in DATASETS.items()}
    scope = Scope(
        {track: names for track, names in chosen.items() if names},
        arguments.suites,
        arguments.methods,
        arguments.threads,
        gpu,
        arguments.clip,
        arguments.classifier,
        arguments.grids,
        arguments.variants,
    )
    bench = Bench(folder, arguments.share, arguments.batches, arguments.longest)
    steps = Steps(folder / "steps.json")
    for step in _all_steps(bench, scope, arguments):
        steps.add(step)
        _say(f"{step.name}: {step.seconds:.1f} s")
    where = torch.cuda.get_device_name() if gpu else "no GPU"
    told = ", ".join(f"{name} {getattr(arguments, name)}" for name in FIXED if getattr(arguments, name))
    print(f"Measured on {machine()}, {where}; {told}.\n\n{steps.table}")
    sys.exit(1 if steps.failed else 0)


def _all_steps(bench: Bench, scope: Scope, arguments: argparse.Namespace) -> Iterator[Step]:
    yield from bench.make_stand_ins(scope)
    params = project.read_params()
    bench.recount(params)
    sections = bench.make_weights(params, scope)
    bench.put_by_hand()
    with mirrored(bench.mirror) as address:
        project.write_params(bench.project, project.profile(params, scope, sections, address))
        yield from carried_out(bench, arguments.phases)


if __name__ == "__main__":
    main()
