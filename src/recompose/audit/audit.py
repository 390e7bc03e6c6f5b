"""The audit: a check that the reports follow from their evaluations, and that these are the ones asked for now.

A check of what belongs to no artifact (the index of the reports, dvc.lock, what git can tell) is a function that yields
findings.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from recompose.audit.artifacts import ArtifactCheck, is_equal
from recompose.audit.findings import UNCHECKED, Audit, Finding
from recompose.audit.stored import Stored
from recompose.digest import sha256_file
from recompose.errors import DamagedError, LineageError, ProgramError
from recompose.files import Document
from recompose.papers.declaration import Paper
from recompose.params.documents import read_document
from recompose.programs import dvc, git
from recompose.progress import say
from recompose.tables.index import PAGE, index_texts
from recompose.tables.lineage import INDEX, MADE, VALUES, ReportIndex
from recompose.tables.published import PublishedLineage
from recompose.tables.stored_results import StoredResults
from recompose.workspace import Workspace

LOCK = "dvc.lock"
STAGES = ("reports",)
RESTORE = "look at `git diff` first; `git checkout -- reports`, or `dvc commit` where you made them"
INCOMPLETE = "it needs results that are missing or not valid"
Page = Callable[[Audit], str]  # makes the page that shows an audit
REMEDY = "`snakemake --cores all` makes missing results; a release has the scores: `recompose audit --release FILE`"


def audit_artifacts(work: Workspace, papers: list[Paper], published: PublishedLineage) -> Audit:
    """Check every artifact and everything that it was made from, quickly: figures only by their digests, and files
    untouched since they were last read only by their times.

    Args:
        work: the workspace of the reports.
        papers: the papers to check.
        published: the valid lineage of the reports.
    """
    return _gather(*_check(work, papers, published, reading=False))


def audit(
    work: Workspace, papers: list[Paper], published: PublishedLineage, page: Page, *, drawing: bool = True
) -> Audit:
    """Check every artifact and every byte that it was made from; of all papers, also the index of the reports, and
    dvc.lock where no results are stored.

    Args:
        work: the workspace of the reports.
        papers: the papers to check.
        published: the valid lineage of the reports.
        page: makes the page that shows an audit; this one knows no page.
        drawing: true to draw figures again; otherwise only their digests are checked.
    """
    stored, checks = _check(work, papers, published, reading=True)
    more: list[Finding] = []
    if len(papers) == len(work.papers):
        # the page shows an audit without drawings
        more += check_index(work, papers, published, _gather(stored, checks), page)
        if not any(map(work.store.is_complete, work.plan.of("evaluations"))):
            more += check_lock(work.root)
    if drawing:
        say("audit: drawing figures again", detail=True)
        for check in checks:
            check.draw_again()
    if any(trust.state == "uncommitted" for check in checks for trust in check.trusts.values()):
        more += check_git(work.root)
    return _gather(stored, checks, more)


def _check(
    work: Workspace, papers: list[Paper], published: PublishedLineage, *, reading: bool
) -> tuple[Stored, list[ArtifactCheck]]:
    """Check everything that reports were made from, and each artifact."""
    stored = Stored(work, published, reading)
    say(f"audit: {len(published.records)} stored results", detail=True)
    stored.check()
    say("audit: tables, claims and files of figures", detail=True)
    checks = [ArtifactCheck(stored, f"{paper.name}/{name}", paper) for paper in papers for name in paper.artifacts]
    for check in checks:
        check.check()
    return stored, checks


def _gather(stored: Stored, checks: list[ArtifactCheck], more: Iterable[Finding] = ()) -> Audit:
    """Return the result of all checks; artifacts share the findings of what they rest on."""
    rebuilt = {key for check in checks for key in check.rebuilt}
    return Audit(
        list(dict.fromkeys([*stored.findings, *(finding for check in checks for finding in check.findings), *more])),
        trusts={check.artifact: dict(check.trusts) for check in checks},
        evaluations=sum(record.kind == "evaluations" for record in stored.published.records.values()),
        files=stored.files,
        numbers={key: numbers for key, numbers in stored.numbers.items() if key not in rebuilt},
        published=len(stored.followed),
        remedy=REMEDY if stored.absent else "",
        compared={check.artifact: check.compared for check in checks},
    )


def audit_document(audited: Audit, published: PublishedLineage) -> Document:
    """Return an audit as plain values."""
    states, parts = audited.states, ("clean", "evaluations", "recomputed", "files", "unchecked", "remedy")
    return {
        **{part: getattr(audited, part) for part in parts},
        "cells": dict(audited.cells),
        "followed": sum(map(audited.followed, states)),
        "artifacts": {name: dict(Counter(cells.values())) for name, cells in states.items()},
        "findings": [vars(f) | {"keys": list(f.keys), "reaches": reach(published, f)} for f in audited.findings],
    }


def reach(published: PublishedLineage, finding: Finding) -> dict[str, int]:
    """Return the number of each artifact's cells that rest on what a finding concerns."""
    cells: Counter[str] = Counter()
    for key in finding.keys:
        cells.update({name: len(reached) for name, reached in published.reach(key).items()})
    return dict(cells)


def check_index(
    work: Workspace, papers: list[Paper], published: PublishedLineage, audited: Audit, page: Page
) -> Iterator[Finding]:
    """Check the page, the index and the numbers beside it against what was written, and what would be written now."""
    try:
        written = ReportIndex.read(work.reports).files
    except FileNotFoundError:
        yield Finding.of("missing-file", f"{work.reports_place}/{INDEX}", "is missing")
        return
    except LineageError as error:
        yield Finding.of("unreadable", f"{work.reports_place}/{INDEX}", str(error))
        return
    if not (work.reports / MADE).is_file():
        yield Finding.of("missing-file", f"{work.reports_place}/{MADE}", "is missing")
    elif published.records and not published.made:
        yield Finding.of("unreadable", f"{work.reports_place}/{MADE}", "cannot be read")
    due: dict[str, str] = {}
    if not all(recipe.key in audited.numbers for recipe in work.plan.of("evaluations")):
        yield Finding.of(UNCHECKED, "the index", INCOMPLETE)
    else:
        try:
            due = index_texts(StoredResults(work, audited.numbers, published.made), papers, published)
        except DamagedError:  # a finding of its own names it
            yield Finding.of(UNCHECKED, "the index", INCOMPLETE)
    # the page shows builds, and the audit before it was written, which may differ from this one
    if due and published.made and not audited.everything:
        due[PAGE] = page(audited)
    for name in dict.fromkeys([*written, *due]):
        path, place = work.reports / name, f"{work.reports_place}/{name}"
        if not path.is_file():
            yield Finding.of("missing-file", place, "is missing")
        elif sha256_file(path) != written.get(name):
            yield Finding.of("changed-file", place, "was changed since it was written")
        elif name in due and not _is_as_due(name, path.read_text(encoding="utf-8"), due[name]):
            why = "artifacts, parameters, or the code that writes it, changed since"
            yield Finding.of("other-text", place, why)


def _is_as_due(name: str, text: str, due: str) -> bool:
    """Return true where a file of the reports has the text that would be written now, or the same values."""
    if text == due or name != VALUES:
        return text == due
    try:
        return is_equal(json.loads(text), json.loads(due))
    except (ValueError, RecursionError):  # anybody may have written it
        return False


def check_lock(root: Path) -> Iterator[Finding]:
    """Compare the reports with dvc.lock."""
    if not (root / LOCK).is_file():
        yield Finding.of(UNCHECKED, LOCK, "is missing, so the reports were not compared with it")
        return
    try:
        status = _dvc_status(root)
    except (ProgramError, json.JSONDecodeError) as error:
        yield Finding.of(UNCHECKED, LOCK, f"the reports were not compared with it: {error}")
        return
    paths = _paths(root)
    changes = (part.get("changed outs", {}) for parts in status.values() for part in parts if isinstance(part, dict))
    for path, change in (item for changed in changes for item in changed.items()):
        if path in paths or not paths:
            yield Finding.of("other-lock", path, f"does not match dvc.lock ({change})", remedy=RESTORE)
        else:
            yield Finding.of(UNCHECKED, path, "dvc.lock has no entry for it")


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


def check_git(root: Path) -> Iterator[Finding]:
    """Ask whether git can tell which commit holds the code of results; its reason is what could not be checked."""
    try:
        git("rev-parse", "--verify", "HEAD", folder=root)
    except ProgramError as error:
        yield Finding.of(UNCHECKED, "whether a commit holds the code of uncommitted results", str(error))
