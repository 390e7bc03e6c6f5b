"""The impact of the changes since a git revision: runs, evaluations and cells that they make stale, and their time.

The plan of the revision is made by the revision's own code from its own parameters, in a folder of its own, and
compared with the plan of the working tree. What differs is what a complete rerun would make.
"""

import os
import shutil
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import BaseModel, ValidationError

from recompose import fingerprint
from recompose.costs import Costs
from recompose.errors import DiffError
from recompose.files import Document
from recompose.monitor import plan_summary
from recompose.monitor.edit_impact import PlanDifference, changed_cells
from recompose.monitor.work_plan import PlannedItem, planned_items
from recompose.papers.declaration import CLAIMS
from recompose.phases import TRAINED
from recompose.programs import git
from recompose.provenance.compare_revisions import RevisionComparison, compare
from recompose.provenance.diff import commit_of
from recompose.report.lineage import LineageCell
from recompose.report.published import PublishedLineage
from recompose.workspace import PROFILE, Workspace

PATIENCE = 300  # seconds for the plan of a revision


class PlanSummary(BaseModel):
    """The digests of a plan, and the places that they stand for."""

    profile: str
    recipes: dict[str, str]  # digest -> kind
    evaluations: list[tuple[str, str, str, list[str]]]  # track, method or variant, benchmark, digests by seed
    benchmarks: list[tuple[str, str, str]]  # track, benchmark, digest of its data
    artifacts: dict[str, str]  # <paper>/<artifact> -> digest of everything that determines it
    metric_code: dict[str, str]  # track -> digest

    @classmethod
    def of(cls, work: Workspace) -> "PlanSummary":
        """Return the plan of a workspace."""
        return cls.model_validate(plan_summary.plan_document(work))

    @cached_property
    def by_evaluation(self) -> dict[tuple[str, str, str], list[str]]:
        """The digests of evaluations by track, method or variant, and benchmark."""
        return {(track, name, benchmark): digests for track, name, benchmark, digests in self.evaluations}

    @cached_property
    def by_benchmark(self) -> dict[tuple[str, str], str]:
        """The digests of data by track and benchmark."""
        return {(track, name): digest for track, name, digest in self.benchmarks}


@dataclass(frozen=True)
class StaleArtifact:
    """An artifact that the changes concern."""

    artifact: str  # <paper>/<name>
    cells: int  # that would have another source
    claims: int  # verdicts among them


@dataclass(frozen=True)
class Impact:
    """What the changes since a revision make stale, and what moved if it was made again already."""

    profile: str
    revision: str
    commit: str
    files: list[str]  # that differ, as git names them
    items: list[PlannedItem]  # new recipes of the working tree
    core_seconds: float  # of the new items with an estimate that are not complete
    dropped: int  # runs that the working tree no longer asks for
    artifacts: list[StaleArtifact]
    numbers: int  # measured, in all reports
    moved: RevisionComparison | None  # the reports against those of the revision; None: they were not made again

    def count(self, kind: str) -> int:
        """Return the number of new items of a kind."""
        return sum(item.kind == kind for item in self.items)

    @property
    def missing(self) -> list[PlannedItem]:
        """The new items that are not complete."""
        return [item for item in self.items if not item.there]

    @property
    def unmeasured(self) -> int:
        """The number of missing items without an estimate."""
        return sum(item.estimate is None for item in self.missing)

    @property
    def by_method(self) -> dict[tuple[str, str], Counter[str]]:
        """The number of new runs and evaluations: (method, data set) -> kind -> number."""
        counts: dict[tuple[str, str], Counter[str]] = {}
        for item in self.items:
            if item.kind in TRAINED:
                counts.setdefault((item.method, item.dataset), Counter())[item.kind] += 1
        return counts

    @property
    def stale_cells(self) -> int:
        """The number of cells that would have another source."""
        return sum(artifact.cells for artifact in self.artifacts)

    @property
    def stale_claims(self) -> int:
        """The number of verdicts among them."""
        return sum(artifact.claims for artifact in self.artifacts)

    def document(self) -> Document:
        """Return the impact as plain values."""
        return {
            "profile": self.profile,
            "revision": self.revision,
            "commit": self.commit,
            "files": self.files,
            "stale": {kind: sorted(item.key for item in self.items if item.kind == kind) for kind in TRAINED},
            "steps": sorted(item.key for item in self.items if item.kind not in TRAINED),
            "missing": len(self.missing),
            "unmeasured": self.unmeasured,
            "core_seconds": self.core_seconds,
            "dropped_runs": self.dropped,
            "artifacts": [asdict(artifact) for artifact in self.artifacts],
            "moved": self.moved.document() if self.moved else None,
        }


def estimate_impact(work: Workspace, revision: str) -> Impact:
    """Return the impact of the changes between a revision and the working tree.

    Raises:
        DiffError: no git repository, no such revision, or a revision whose code makes no plan.
        ParamsError, PlanError: the working tree has no valid plan.
    """
    commit = commit_of(work.root, revision)
    after, before = PlanSummary.of(work), plan_at(work, revision, commit)
    items = [item for item in planned_items(work, Costs.of(work, work.plan), {*before.recipes}) if item.new]
    published = PublishedLineage.read(work.reports, work.papers)
    comparison = compare(work.reports, work.papers, revision) if work.reports.is_dir() else None
    runs = [digest for digest, kind in before.recipes.items() if kind == "runs"]
    return Impact(
        work.params.profile,
        revision,
        commit,
        _changed_files(work.root, commit),
        items,
        sum(item.estimate.seconds * item.threads for item in items if item.estimate),
        sum(digest not in after.recipes for digest in runs),
        list(_stale_artifacts(work, published, before, after)),
        sum(len(published.cells(name)) for name in published.lineages),
        None if comparison is None or comparison.is_untouched else comparison,
    )


def plan_at(work: Workspace, revision: str, commit: str) -> PlanSummary:
    """Return the plan of a revision, for the profile of a workspace, made by the revision's own code.

    Raises:
        DiffError: the revision has no sources, or its code makes no plan.
    """
    with TemporaryDirectory(prefix="recompose-revision-") as name:
        folder = Path(name)
        _export(work.root, commit, revision, folder)
        environment = {**os.environ, "PYTHONPATH": str(folder / "src"), PROFILE: work.params.profile}
        command = [sys.executable, "-P", str(Path(plan_summary.__file__))]
        try:
            process = subprocess.run(
                command, cwd=folder, env=environment, capture_output=True, text=True, timeout=PATIENCE
            )
            if process.returncode == 0:
                return PlanSummary.model_validate_json(process.stdout)
            reason = (process.stderr.strip().splitlines() or ["it prints nothing"])[-1]
        except ValidationError:
            reason = "it is another version's"
        except subprocess.TimeoutExpired:
            reason = f"it takes more than {PATIENCE} s"
        message = f"the code of revision '{revision}' makes no plan to compare with: {reason}"
        raise DiffError(message, code="no-plan", place=revision)


def _export(root: Path, commit: str, revision: str, folder: Path) -> None:
    """Write the files of a revision that its plan follows from.

    Raises:
        DiffError: it lacks sources or parameters.
        ProgramError: git cannot read it.
    """
    listed = git("ls-tree", "--name-only", commit, folder=root).splitlines()
    names = [name for name in listed if name == "src" or name.endswith(".yaml")]  # sources, parameters, allocations
    if not {"src", "params.yaml"} <= {*names}:
        message = f"revision '{revision}' has no src and params.yaml in {root}: nothing to plan"
        raise DiffError(message, code="no-sources", place=revision)
    archive = folder / "revision.tar"
    git("archive", "--format=tar", f"--output={archive}", commit, "--", *names, folder=root)
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    cache = folder / "src" / "recompose" / "__pycache__"  # by digests of sources: most are those of the working tree
    for file in (fingerprint.ROOT / "__pycache__").glob("fingerprints-*.json"):
        cache.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, cache)


def _changed_files(root: Path, commit: str) -> list[str]:
    """Return the tracked files that differ from a revision, and new ones, without the reports."""
    changed = git("diff", "--name-only", "--no-renames", commit, "--", ".", ":!reports", folder=root)
    new = git("ls-files", "--others", "--exclude-standard", "--", ".", ":!reports", folder=root)
    return sorted({*changed.splitlines(), *new.splitlines()})


def plan_difference(before: PlanSummary, after: PlanSummary) -> PlanDifference:
    """Return the evaluations and benchmarks whose numbers stand for other recipes, or come by other code of metrics."""
    tracks = before.metric_code.keys() | after.metric_code.keys()
    remeasured = {track for track in tracks if before.metric_code.get(track) != after.metric_code.get(track)}
    evaluations = before.by_evaluation.keys() | after.by_evaluation.keys()
    return PlanDifference(
        {
            key
            for key in evaluations
            if key[0] in remeasured or before.by_evaluation.get(key) != after.by_evaluation.get(key)
        },
        {
            key
            for key in before.by_benchmark.keys() | after.by_benchmark.keys()
            if before.by_benchmark.get(key) != after.by_benchmark.get(key)
        },
    )


def _stale_artifacts(
    work: Workspace, published: PublishedLineage, before: PlanSummary, after: PlanSummary
) -> Iterator[StaleArtifact]:
    """Yield the artifacts that the changes concern: those with stale cells, and those made by other code or from
    another declaration.
    """
    difference = plan_difference(before, after)
    for paper in work.papers:
        for name, artifact in paper.artifacts.items():
            key = f"{paper.name}/{name}"
            made = published.cells(key) if key in published.lineages else []
            cells = changed_cells(paper.track, made, difference)
            if cells or before.artifacts.get(key) != after.artifacts.get(key):
                yield StaleArtifact(key, len(cells), _verdicts(cells) if artifact.kind == CLAIMS else 0)


def _verdicts(cells: list[LineageCell]) -> int:
    return sum(cell.part == "verdict" for cell in cells)
