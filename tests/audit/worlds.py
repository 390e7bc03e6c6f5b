"""Bad worlds: what is done to a finished project, and what may be said of it.

Audits are made in this process, of copies of what they read.
"""

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from recompose.audit.audit import audit, audit_artifacts
from recompose.audit.findings import Audit
from recompose.digest import sha256_file
from recompose.files import read_json, write_json
from recompose.papers.declaration import all_papers
from recompose.site.build import pages_of
from recompose.tables import caveats
from recompose.tables.artifacts import make_artifacts
from recompose.tables.index import builds_of, write_index
from recompose.tables.published import PublishedLineage
from recompose.tables.stored_results import StoredResults
from recompose.workspace import Workspace
from tests.configuration import parameters

Found = tuple[str, str, str]  # state, place, what is said
MADE_FROM_EVALUATIONS = {
    "duplex/table-3": 8,
    "duplex/table-4": 4,
    "msci/table-2": 8,
    "msci/table-3": 4,
    "msci/factors": 2,
    "msci/figure-curves": 1,
}
FROM_DATA = {"duplex/table-1": 11, "duplex/table-12": 20, "duplex/table-13": 10, "msci/table-1": 8}
SHOWN = MADE_FROM_EVALUATIONS | FROM_DATA | {"duplex/table-13": 40}
PAPERS_LOADED = [paper for paper in all_papers() if paper.track == "czsl"]  # whose track the worlds have
SMOKE = "profiles.smoke.override.czsl.datasets"
IMAGES = {"train": 400, "val": 150, "test": 150}  # of the projects that the engines made
# other values in params.yaml
ONE_IMAGE_MORE = {f"{SMOKE}.shapes-pairs.images": IMAGES | {"test": 151}}
DATA_RENAMED = {
    "czsl.datasets.drawn-pairs": parameters()["czsl"]["datasets"]["shapes-pairs"],
    "profiles.smoke.czsl.datasets": ["drawn-pairs"],
    f"{SMOKE}.drawn-pairs.images": IMAGES,
}
READ = ("reports", "results", "params.yaml", "dvc.yaml", "dvc.lock")  # of a project, by an audit


def copy_of(project: Path, target: Path, *more: str) -> Path:
    """What an audit reads of a project; data is another's to read, unless it is asked for."""
    target.mkdir(parents=True)
    for name in (*READ, *more):
        source = project / name
        if source.is_dir():
            shutil.copytree(source, target / name, symlinks=True)
        elif source.exists():
            shutil.copy2(source, target / name)
    if "data" not in more:
        (target / "data").symlink_to(project / "data")
    return target


def audited(root: Path, *, drawing: bool = False) -> Audit:
    """The audit of a project; figures are drawn again only where that is asked for."""
    work = Workspace(root)
    published = PublishedLineage.read(work, PAPERS_LOADED)
    return audit(work, PAPERS_LOADED, published, pages=pages_of(work, published), drawing=drawing)


def findings(found: Audit) -> list[Found]:
    return sorted((each.state, each.place, each.why) for each in found.findings)


def moved(found: Audit, clean: Audit) -> dict[str, dict[str, int]]:
    """How many cells of each artifact are in another state than in the clean world, by that state."""
    counts: dict[str, dict[str, int]] = {}
    for name, states in clean.states.items():
        for key in states | found.states[name]:
            now = found.states[name].get(key, "gone")
            if now != states.get(key):
                of = counts.setdefault(name, {})
                of[now] = of.get(now, 0) + 1
    return counts


def all_of(state: str, *parts: dict[str, int]) -> dict[str, dict[str, int]]:
    return {name: {state: count} for part in parts for name, count in part.items()}


def of_kind(root: Path, kind: str) -> list[Path]:
    """The folders of a kind, by seed or world."""
    records = [(read_json(path)["labels"], path.parent) for path in root.glob(f"results/{kind}/*/record.json")]
    return [folder for _, folder in sorted((labels.get("seed", labels.get("world")), at) for labels, at in records)]


def evaluations_of(root: Path) -> list[Path]:
    """The folders of the evaluations, by seed."""
    return of_kind(root, "evaluations")


def indexes_of(root: Path) -> list[Path]:
    """The folders of the data set's indexes, by world: that of each seed's evaluation."""
    first, second = of_kind(root, "data")
    return [first, second]


def index_of(root: Path) -> Path:
    """The folder of the first world's index: what is told of data alone is told of that one."""
    return indexes_of(root)[0]


def data_of(root: Path) -> Path:
    """The folder of the first world's raw files."""
    return root / "data" / f"shapes-pairs-{index_of(root).name}"


def edit_json(path: Path, edit: Callable[[Any], object]) -> None:
    document = read_json(path)
    edit(document)
    write_json(path, document)


def replace_once(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) >= 1, old
    path.write_text(text.replace(old, new, 1))


def correct(record: Path, *names: str) -> None:
    """Make a record, or a lineage, agree with files that were changed, as a forger would."""

    def edit(document: dict[str, Any]) -> None:
        for name in names:
            path = record.parent / name
            digest = sha256_file(path)
            document["files"][name] = {"sha256": digest, "bytes": path.stat().st_size} if "made" in document else digest

    edit_json(record, edit)


def each_record(root: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    """Edit the records of everything that is stored."""
    for path in root.glob("results/*/*/record.json"):
        edit_json(path, edit)


def remake_reports(root: Path, work: Workspace | None = None) -> None:
    """What the last phases do, of the artifacts that show anything of chance."""
    work = work or Workspace(root)
    for paper in PAPERS_LOADED:
        names = [name for name in paper.artifacts if f"{paper.name}/{name}" in SHOWN]
        make_artifacts(StoredResults(work), paper, names)
    remake_index(work)


def remake_index(work: Workspace) -> None:
    """What the last phase does."""
    published = PublishedLineage.read(work, PAPERS_LOADED)
    shown = replace(published, made=builds_of(work, published))
    found = audit_artifacts(work, PAPERS_LOADED, shown)
    write_index(StoredResults(work), PAPERS_LOADED, published, pages_of(work, shown)(found))


def improve(lineage: dict[str, Any]) -> None:
    """Give chance's accuracy on seen pairs of shapes another value."""
    cell = next(cell for cell in lineage["cells"] if (cell["column"], cell["view"]) == ("shapes-pairs S", "exact"))
    cell.update(text="9.9 ± 1.1", value=9.9, values=[9.9, 9.9])


def key_of(folder: Path) -> str:
    return f"{folder.parent.name}/{folder.name}"


def zeroed(scores: Path) -> None:
    """Scores of the same size that say nothing."""
    content = scores.read_bytes()
    scores.write_bytes(content[:-1000] + bytes(1000))


def dirty(root: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a record and the reports as they would be had a source been edited that was never committed."""

    monkeypatch.setattr(caveats, "_find_commit", lambda code: None)
    edit_json(folder / "record.json", lambda record: record["made"].update(dirty=True))
    remake_reports(root)


def again(folder: Path, *, otherwise: bool = False) -> None:
    """A record as that of the same recipe that was made again later."""

    def edit(record: dict[str, Any]) -> None:
        record["made"]["started"] = record["made"]["started"].replace("20", "21", 1)

    if otherwise:
        zeroed(folder / "scores.safetensors")
        correct(folder / "record.json", "scores.safetensors")
    edit_json(folder / "record.json", edit)


def other_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    """The code of metrics as if it had been edited, so that it gives other numbers."""
    from recompose.audit import trust
    from recompose.tracks import TRACKS

    track = type(TRACKS["czsl"])
    honest, fingerprint = track.metrics, trust.fingerprint
    monkeypatch.setattr(track, "metrics", lambda *given: {name: value / 2 for name, value in honest(*given).items()})
    monkeypatch.setattr(
        trust, "fingerprint", lambda names: fingerprint(names) | {"recompose.tracks.czsl.metrics.czsl": "0" * 64}
    )
