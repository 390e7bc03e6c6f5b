"""The audit: a check that the reports follow from their evaluations, and that these are the ones asked for now.

It goes through the contents behind the reports, and computes metrics again from scores, cells from metrics, files from
cells and the page from all. Where scores are not on this disk, it begins at the metrics in provenance.json.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from recompose.audit.cells import ArtifactCheck
from recompose.audit.contents import Contents
from recompose.audit.findings import Audit, Finding
from recompose.digest import sha256_file
from recompose.errors import DamagedError, ProgramError
from recompose.files import Document
from recompose.papers.declaration import Paper
from recompose.params.documents import read_document
from recompose.programs import dvc
from recompose.progress import say
from recompose.recipes.state import CHANGED, MISSING, OUTDATED, UNCHECKED, own_changes
from recompose.tables.index import PAGE, index_texts
from recompose.tables.provenance import MADE, PROVENANCE, Made
from recompose.tables.published import Published
from recompose.tables.reports import Reports
from recompose.tables.stored_results import StoredResults

LOCK = "dvc.lock"
STAGES = ("reports",)
RESTORE = "look at `git diff` first; `git checkout -- reports`, or `dvc commit` where you made them"


def audit(
    reports: Reports,
    published: Published,
    papers: list[Paper],
    *,
    quick: bool = False,
    page: Callable[[Audit], str] | None = None,
) -> Audit:
    """Check papers and every byte that they were made from; if these are all, also what belongs to no artifact.

    Args:
        reports: that are asked for.
        published: what the reports tell.
        papers: the papers to check.
        quick: compare no numbers, and files untouched since they were last read by their times alone, as the page does,
            which is made from them.
        page: returns the page that shows an audit, which is compared where all of it can be.
    """
    say(f"audit: {len(published.recipes)} results", detail=True)
    contents = Contents(reports, published, reading=not quick)
    everything = [*contents.check(quick=quick)]
    say("audit: tables, claims and figures", detail=True)
    checks = [ArtifactCheck(contents, paper, name) for paper in papers for name in paper.artifacts]
    for check in checks:
        check.check(drawing=not quick)
        everything += check.findings
    if not quick and len(papers) == len(reports.work.papers):
        everything += _check_page(reports, published, contents)
    audited = Audit(
        [*dict.fromkeys(everything)],
        cells={check.artifact: check.states for check in checks},
        evaluations=sum(recipe.kind == "evaluations" for recipe in published.recipes.values()),
        files=contents.files,
        numbers=contents.numbers,
        followed=len(contents.followed),
        compared={check.artifact: check.compared for check in checks},
        uncommitted=contents.uncommitted,
    )
    path, place = reports.work.reports / PAGE, f"{reports.work.reports_place}/{PAGE}"
    is_whole = page is not None and not audited.everything and len(papers) == len(reports.work.papers)
    if page and is_whole and path.read_bytes().decode("utf-8", "replace") != page(audited):
        return replace(audited, everything=[Finding.of(CHANGED, place, "is not what the results give")])
    return audited


def audit_document(audited: Audit, published: Published) -> Document:
    """Return an audit as plain values."""
    parts = ("clean", "outcome", "evaluations", "recomputed", "files", "unchecked", "uncommitted")
    return {
        **{part: getattr(audited, part) for part in parts},
        "cells": dict(audited.words),
        "compared": sum(map(len, audited.compared.values())),
        "artifacts": {name: dict(Counter(state.word for state in of.values())) for name, of in audited.cells.items()},
        "findings": [
            {part: getattr(finding, part) for part in ("state", "place", "why", "remedy", "keys")}
            | {"reaches": reach(published, finding)}
            for finding in audited.findings
        ],
    }


def reach(published: Published, finding: Finding) -> dict[str, int]:
    """Return the number of each artifact's cells that rest on what a finding concerns."""
    cells: Counter[str] = Counter()
    for key in finding.keys:
        cells.update({name: len(reached) for name, reached in published.reach(key).items()})
    return dict(cells)


def _check_page(reports: Reports, published: Published, contents: Contents) -> Iterator[Finding]:
    """Check what belongs to no artifact: provenance, the page and the files beside it, and dvc.lock where no results
    are stored.
    """
    work = reports.work
    folder, place = work.reports, work.reports_place
    if published.fault:
        yield Finding.of(CHANGED, f"{place}/{PROVENANCE}", f"cannot be read: {published.fault}")
    elif not (folder / PROVENANCE).is_file():
        yield Finding.of(MISSING, f"{place}/{PROVENANCE}", "is missing")
    elif not published.made:
        word = CHANGED if (folder / MADE).exists() else MISSING
        yield Finding.of(word, f"{place}/{MADE}", "cannot be read" if word == CHANGED else "is missing")
    elif sha256_file(folder / PROVENANCE) != Made.read(folder).provenance:
        yield Finding.of(CHANGED, f"{place}/{PROVENANCE}", "was changed since it was written")
    if published.page:
        yield from _check_beside(reports, published, contents)
    if not any(map(work.store.is_complete, work.plan.of("evaluations"))):
        yield from check_lock(work.root)


def _check_beside(reports: Reports, published: Published, contents: Contents) -> Iterator[Finding]:
    """Compare the page and the files beside it with what was written, and with what would be."""
    work, page = reports.work, published.page
    if page and page.key != reports.page.key:
        yield from (
            Finding.of(OUTDATED, f"{work.reports_place}/{PAGE}", why) for why in own_changes(page, reports.page)
        )
    of_artifacts = tuple(f"{name}." for name in published.artifacts)
    names = [name for name in published.files if not name.startswith(of_artifacts)]
    due = _due_texts(reports, contents)
    if not due:
        yield Finding.of(UNCHECKED, "the page", "was not compared: it needs results that are missing or not valid")
    for name in names:
        path, place = work.reports / name, f"{work.reports_place}/{name}"
        if not path.is_file():
            yield Finding.of(MISSING, place, "is missing")
        elif sha256_file(path) != published.files[name]:
            yield Finding.of(CHANGED, place, "was changed since it was written")
        elif name in due and path.read_bytes().decode("utf-8", "replace") != due[name]:
            yield Finding.of(CHANGED, place, "is not what the results give")


def _due_texts(reports: Reports, contents: Contents) -> dict[str, str]:
    """Return the files beside the page as they would be written now; none where results are missing."""
    work = reports.work
    if any(recipe.key not in contents.numbers for recipe in work.plan.of("evaluations")):
        return {}
    try:
        return index_texts(StoredResults(work, contents.numbers))
    except DamagedError:  # a finding of its own names it
        return {}


def check_lock(root: Path) -> Iterator[Finding]:
    """Compare the reports with dvc.lock."""
    if not (root / LOCK).is_file():
        yield Finding.of(UNCHECKED, LOCK, "is missing, so the reports were not compared with it")
        return
    try:
        status = _dvc_status(root)
    except (ProgramError, json.JSONDecodeError) as error:
        yield Finding.of(UNCHECKED, LOCK, f"was not compared with the reports: {error}")
        return
    paths = _paths(root)
    changes = (part.get("changed outs", {}) for parts in status.values() for part in parts if isinstance(part, dict))
    for path, change in (item for changed in changes for item in changed.items()):
        if path in paths or not paths:
            yield Finding.of(CHANGED, path, f"does not match dvc.lock ({change})", remedy=RESTORE)
        else:
            yield Finding.of(UNCHECKED, path, "has no entry in dvc.lock")


def _paths(root: Path) -> set[str]:
    """Return the reports that the lock covers, which are one profile's; nothing where it cannot be read."""
    try:
        stages = read_document((root / LOCK).read_text(encoding="utf-8"), LOCK)["stages"]
        return {out["path"] for stage in STAGES for out in stages[stage]["outs"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return set()


def _dvc_status(root: Path) -> dict[str, list[object]]:
    """Return the output of ``dvc status`` for the stages that write reports."""
    status: dict[str, list[object]] = json.loads(dvc("status", "--json", *STAGES, folder=root))
    return status
