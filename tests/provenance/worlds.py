"""Bad worlds for the audit: what is done to a finished project, and what may be said of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from recompose.digest import sha256_file
from recompose.files import read_json, write_json
from recompose.papers.declaration import PAPERS, load_paper
from recompose.provenance.audit import audit, audit_artifacts
from recompose.provenance.checks.findings import Audit
from recompose.report.artifacts import make_artifacts
from recompose.report.index import write_index
from recompose.site.build import page, site_of
from recompose.workspace import Workspace

Found = tuple[str, str, str]  # state, place, what is said
MADE_FROM_RUNS = {
    "duplex/table-3": 8,
    "duplex/table-4": 4,
    "msci/table-2": 8,
    "msci/table-3": 4,
    "msci/figure-curves": 1,
}
FROM_INDEX = {"duplex/table-1": 11, "duplex/table-12": 20, "duplex/table-13": 10, "msci/table-1": 8}
PAPERS_LOADED = [load_paper(name) for name in PAPERS]


def audited(root: Path) -> Audit:
    return audit(Workspace(root), PAPERS_LOADED)


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


def stale_rows(why: str) -> list[Found]:
    """What is found where what shows chance's runs is stale."""
    cells = {name: "1 cell" if count == 1 else f"{count} cells" for name, count in MADE_FROM_RUNS.items()}
    return [("stale", f"{name} · chance ({said})", why) for name, said in cells.items()]


def runs_of(root: Path) -> list[Path]:
    """The folders of the runs, by seed."""
    records = [(read_json(path)["recipe"]["seed"], path.parent) for path in root.glob("results/runs/*/run.json")]
    return [folder for _, folder in sorted(records)]


def index_of(root: Path) -> Path:
    (record,) = root.glob("results/index/*/record.json")
    return record.parent


def data_of(root: Path) -> Path:
    (folder,) = root.glob("data/shapes-pairs-*/")
    return folder


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
            document["files"][name] = (
                digest if "cells" in document else {"sha256": digest, "bytes": path.stat().st_size}
            )

    edit_json(record, edit)


def remake_reports(root: Path) -> None:
    """What the last two phases do."""
    remake_reports_of(Workspace(root))


def remake_reports_of(work: Workspace) -> None:
    for paper in PAPERS_LOADED:
        make_artifacts(work, paper)
    found = audit_artifacts(work, PAPERS_LOADED)
    write_index(work, PAPERS_LOADED, page(site_of(work, PAPERS_LOADED, found), work.reports))
