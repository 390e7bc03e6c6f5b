"""Receipts: what a phase tells Snakemake, a small file with the digests of what it made.

Snakemake owns nothing but receipts (and the reports), so it can delete nothing dear. A receipt's name carries the digest of what was
to be made, and it holds only while the files it names are as they were: no clock and no engine's memory comes into it.
"""

from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from recompose.digest import sha256_file
from recompose.files import read_json, write_json
from recompose.fingerprint import ROOT, fingerprint
from recompose.papers.declaration import FOLDER, PAPERS
from recompose.plan import Batch, Recipe
from recompose.store import KINDS
from recompose.workspace import Workspace

K = TypeVar("K")
PHASES = ("data", "backbone", "features", "runs", "artifacts", "report")
ARTIFACTS = "recompose.report.artifacts"
INDEX = ("recompose.report.index", "recompose.site.build", "recompose.provenance.audit")
PAGE = ROOT / "site"  # its templates


def write_receipt(path: Path, root: Path, files: Iterable[Path]) -> None:
    """State that these files are made."""
    write_json(path, {file.relative_to(root).as_posix(): sha256_file(file) for file in sorted(files)})


def holds(path: Path, root: Path) -> bool:
    """Whether a receipt is there and every file it names is as it was."""
    try:
        files = read_json(path)
        return bool(files) and all(
            (root / name).is_file() and sha256_file(root / name) == sha256 for name, sha256 in files.items()
        )
    except (OSError, ValueError, AttributeError, TypeError):
        return False


def drop_outdated(paths: Iterable[Path], root: Path) -> list[Path]:
    """Remove the receipts that no longer hold, so that what they stand for is made again; gives them."""
    outdated = [path for path in paths if path.exists() and not holds(path, root)]
    for path in outdated:
        path.unlink()
    return outdated


class Receipts:
    """The receipts of a plan, by phase: ``results/receipts/<phase>/<folder>.json``."""

    def __init__(self, work: Workspace) -> None:
        self._work, self._plan = work, work.plan

    @cached_property
    def _papers(self) -> dict[str, Recipe]:
        made = sorted(run.digest for run in self._plan.runs)
        return {
            name: Recipe(name, {"paper": declared_content(name), "runs": made, "code": fingerprint([ARTIFACTS])})
            for name in PAPERS
        }

    @cached_property
    def _report(self) -> Recipe:
        papers = {name: recipe.digest for name, recipe in self._papers.items()}
        notes = {name: content_of(FOLDER / name) for name in PAPERS}
        document = {"artifacts": papers, "notes": notes, "page": content_of(PAGE), "code": fingerprint(INDEX)}
        return Recipe("report", document)

    def _recipes(self, phase: str) -> list[str]:
        plan = self._plan
        return {
            "data": [recipe.folder for recipe in plan.datasets.values()],
            "backbone": [recipe.folder for recipe in plan.backbones.values()],
            "features": [recipe.folder for recipe in plan.features.values()],
            "runs": [batch.name for batch in plan.batches],
            "artifacts": [recipe.folder for recipe in self._papers.values()],
            "report": [self._report.folder],
        }[phase]

    def pattern(self, phase: str) -> str:
        """The path of a phase's receipts, ``{folder}`` left open."""
        return f"results/receipts/{phase}/{{folder}}.json"

    def log(self, phase: str) -> str:
        """The path of the log that goes with it."""
        return f"results/logs/{phase}/{{folder}}.log"

    def all(self, phase: str) -> list[str]:
        """The paths of all receipts of a phase."""
        return [self.pattern(phase).format(folder=folder) for folder in self._recipes(phase)]

    def of_artifacts(self, paper: str) -> str:
        """The path of a paper's receipt."""
        return self.pattern("artifacts").format(folder=self._papers[paper].folder)

    def dataset(self, folder: str) -> str:
        """The data set that a receipt of the phase data is about."""
        return _called(self._plan.datasets, folder)

    def backbone(self, folder: str) -> str:
        """The backbone that a receipt of the phase backbone is about."""
        return _called(self._plan.backbones, folder)

    def features(self, folder: str) -> tuple[str, str]:
        """The data set and the backbone that a receipt of the phase features is about."""
        return _called(self._plan.features, folder)

    def before_features(self, folder: str) -> list[str]:
        """What has to be there before a data set is encoded."""
        dataset, backbone = self.features(folder)
        return [
            self.pattern("data").format(folder=self._plan.datasets[dataset].folder),
            self.pattern("backbone").format(folder=self._plan.backbones[backbone].folder),
        ]

    def before_batch(self, name: str) -> list[str]:
        """What has to be there before a batch of runs."""
        batch = self._batch(name)
        data = self.pattern("data").format(folder=self._plan.datasets[batch.dataset].folder)
        if batch.backbone is None:
            return [data]
        return [data, self.pattern("features").format(folder=self._plan.features[batch.dataset, batch.backbone].folder)]

    def before_artifacts(self) -> list[str]:
        """What has to be there before tables and figures."""
        return [*self.all("data"), *self.all("runs")]

    def threads(self, name: str) -> int:
        """The threads of a batch's process."""
        return self._work.params.chosen.trainer.threads if self._batch(name).backbone else 1

    def threads_of_backbone(self, folder: str) -> int:
        """The threads of the process that makes a backbone."""
        return self._work.threads_of(self.backbone(folder))

    def gpus(self, name: str) -> int:
        """The GPUs of a batch's process, as a scheduler counts them."""
        return self.gpus_of_towers if self._batch(name).backbone else 0

    @property
    def gpus_of_towers(self) -> int:
        """The GPUs of a process that computes with the backbone; with ``devices: auto`` Lightning takes all there are."""
        trainer = self._work.params.chosen.trainer
        if trainer.accelerator == "cpu":
            return 0
        return 1 if trainer.devices == "auto" else int(trainer.devices)

    def _batch(self, name: str) -> Batch:
        return next(batch for batch in self._plan.batches if batch.name == name)

    def reconcile(self) -> list[Path]:
        """Drop the receipts that do not hold any more; gives them.

        Raises:
            DamagedError: a run that the plan needs has a missing or truncated file.
        """
        for kind in KINDS:  # DVC wants the folder of a phase even where the phase had nothing to do
            self._work.store(kind).root.mkdir(parents=True, exist_ok=True)
        for run in self._plan.runs:
            if self._work.runs.is_complete(run):
                self._work.runs.verify_sizes(run)
        paths = [self._work.root / path for phase in PHASES for path in self.all(phase)]
        return drop_outdated(paths, self._work.root)


def _called(recipes: Mapping[K, Recipe], folder: str) -> K:
    """The key of the recipe with this folder."""
    return next(key for key, recipe in recipes.items() if recipe.folder == folder)


def declared_content(paper: str) -> dict[str, str]:
    """The digests of the files in which a paper declares its artifacts and reported values."""
    return {name: sha256 for name, sha256 in content_of(FOLDER / paper).items() if not name.endswith(".md")}


def content_of(folder: Path) -> dict[str, str]:
    """The digests of a folder's files that are no code: those that reports are made from."""
    return {
        path.relative_to(folder).as_posix(): sha256_file(path)
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".yaml", ".csv", ".md", ".html", ".css", ".js")
    }
