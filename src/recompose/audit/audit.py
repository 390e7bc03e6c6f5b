"""The audit: a check that the reports follow from their evaluations, and that these are the ones asked for now."""

from collections import Counter
from collections.abc import Iterable

from recompose.audit.artifacts import ArtifactCheck
from recompose.audit.checks import Pages, check_git, check_index, check_lock
from recompose.audit.findings import Audit, Finding
from recompose.audit.stored import Stored
from recompose.files import Document
from recompose.papers.declaration import Paper
from recompose.progress import say
from recompose.tables.published import PublishedLineage
from recompose.workspace import Workspace

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
    work: Workspace,
    papers: list[Paper],
    published: PublishedLineage | None = None,
    *,
    pages: Pages,
    drawing: bool = True,
) -> Audit:
    """Check every artifact and every byte that it was made from; of all papers, also the index of the reports, and
    dvc.lock where no results are stored.

    Args:
        work: the workspace of the reports.
        papers: the papers to check.
        published: what of the reports can be relied on, where that was read already.
        pages: the page that shows an audit; this one knows no page.
        drawing: true to draw figures again; otherwise only their digests are checked.
    """
    published = published or PublishedLineage.read(work, papers)
    stored, checks = _check(work, papers, published, reading=True)
    more: list[Finding] = []
    if len(papers) == len(work.papers):
        # the page shows an audit without drawings
        more += check_index(work, papers, published, _gather(stored, checks), pages)
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
        list(dict.fromkeys([*stored.findings, *(each for check in checks for each in check.findings), *more])),
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
    findings = [vars(f) | {"keys": list(f.keys), "reaches": reach(published, f)} for f in audited.findings]
    states = audited.states
    return {
        "clean": audited.clean,
        "evaluations": audited.evaluations,
        "recomputed": audited.recomputed,
        "files": audited.files,
        "cells": dict(audited.cells),
        "followed": sum(map(audited.followed, states)),
        "artifacts": {name: dict(Counter(cells.values())) for name, cells in states.items()},
        "findings": findings,
        "unchecked": audited.unchecked,
        "remedy": audited.remedy,
    }


def reach(published: PublishedLineage, finding: Finding) -> dict[str, int]:
    """Return the number of each artifact's cells that rest on what a finding concerns."""
    cells: Counter[str] = Counter()
    for key in finding.keys:
        cells.update({name: len(reached) for name, reached in published.reach(key).items()})
    return dict(cells)
