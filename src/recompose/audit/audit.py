"""The audit: a check that the reports follow from their evaluations, and that these are the ones asked for now."""

from collections import Counter
from dataclasses import dataclass, replace

from recompose.audit.checks.artifacts import ArtifactCheck
from recompose.audit.checks.index import Pages, check_index
from recompose.audit.checks.lock import check_lock
from recompose.audit.findings import Audit, AuditReport, Finding
from recompose.audit.stored import Stored
from recompose.audit.trust import TrustEvaluator
from recompose.errors import ProgramError
from recompose.files import Document
from recompose.papers.declaration import Paper
from recompose.programs import git
from recompose.progress import say
from recompose.tables.published import PublishedLineage
from recompose.workspace import Workspace

REMEDY = "`snakemake --cores all` makes missing results; a release has the scores: `recompose audit --release FILE`"


@dataclass(frozen=True)
class _Checks:
    """The checks of everything that reports were made from, and of each artifact."""

    stored: Stored
    artifacts: dict[str, ArtifactCheck]

    @classmethod
    def of(cls, work: Workspace, papers: list[Paper], published: PublishedLineage, *, reading: bool) -> "_Checks":
        evaluator = TrustEvaluator(work, published, reading=reading)
        say(f"audit: {len(published.records)} stored results", detail=True)
        evaluator.stored.check()
        say("audit: tables, claims and files of figures", detail=True)
        names = [(paper, name) for paper in papers for name in paper.artifacts]
        checks = {f"{paper.name}/{name}": ArtifactCheck(evaluator, paper, name) for paper, name in names}
        for check in checks.values():
            check.check()
        return cls(evaluator.stored, checks)

    def audit(self) -> Audit:
        report = AuditReport()
        for part in (self.stored.report, *(check.report for check in self.artifacts.values())):
            report.add(part)
        states = {name: dict(check.states) for name, check in self.artifacts.items()}
        report.cells.update(state for states_by_cell in states.values() for state in states_by_cell.values())
        records = self.stored.published.records.values()
        rebuilt = set[str]().union(*(check.rebuilt for check in self.artifacts.values()))
        return Audit(
            report,
            states=states,
            why={name: check.why for name, check in self.artifacts.items()},
            evaluations=sum(record.kind == "evaluations" for record in records),
            files=self.stored.files,
            lineages={name: check.lineage for name, check in self.artifacts.items() if check.lineage},
            numbers={key: numbers for key, numbers in self.stored.numbers.items() if key not in rebuilt},
            published=len(self.stored.followed),
            compared={name: check.compared for name, check in self.artifacts.items()},
        )


def audit_artifacts(work: Workspace, papers: list[Paper], published: PublishedLineage) -> Audit:
    """Check every artifact and everything that it was made from, quickly: figures only by their digests, and files
    untouched since they were last read only by their times.

    Args:
        work: the workspace of the reports.
        papers: the papers to check.
        published: the valid lineage of the reports.
    """
    return _Checks.of(work, papers, published, reading=False).audit()


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
    checks = _Checks.of(work, papers, published, reading=True)
    is_whole = len(papers) == len(work.papers)
    # the page shows an audit without drawings
    index = check_index(work, papers, published, checks.audit(), pages) if is_whole else AuditReport()
    if drawing:
        say("audit: drawing figures again", detail=True)
        for check in checks.artifacts.values():
            check.draw_again()
    whole = checks.audit()
    whole.report.add(index)
    if is_whole and not any(map(work.store.is_complete, work.plan.of("evaluations"))):
        whole.report.add(check_lock(work.root))
    if any("uncommitted" in states.values() for states in whole.states.values()):
        whole.report.add(_check_git(work))
    if checks.stored.absent:
        return replace(whole, remedy=REMEDY)
    return whole


def _check_git(work: Workspace) -> AuditReport:
    """Ask whether git can tell which commit holds the code of results; its reason is what could not be checked."""
    try:
        git("rev-parse", "--verify", "HEAD", folder=work.root)
    except ProgramError as error:
        return AuditReport(unchecked=[f"whether a commit holds the code of uncommitted results: {error}"])
    return AuditReport()


def audit_document(audited: Audit, published: PublishedLineage) -> Document:
    """Return an audit as plain values."""
    findings = [vars(f) | {"keys": list(f.keys), "reaches": reach(published, f)} for f in audited.findings]
    return {
        "clean": audited.report.clean,
        "evaluations": audited.evaluations,
        "recomputed": audited.recomputed,
        "files": audited.files,
        "cells": dict(audited.report.cells),
        "followed": sum(map(audited.followed, audited.states)),
        "artifacts": {name: dict(Counter(states.values())) for name, states in audited.states.items()},
        "findings": findings,
        "unchecked": audited.report.unchecked,
        "remedy": audited.remedy,
    }


def reach(published: PublishedLineage, finding: Finding) -> dict[str, int]:
    """Return the number of each artifact's cells that rest on what a finding concerns."""
    cells: Counter[str] = Counter()
    for key in finding.keys:
        cells.update({name: len(reached) for name, reached in published.reach(key).items()})
    return dict(cells)
