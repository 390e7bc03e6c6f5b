"""The audit: does everything that the reports show follow from runs, and from those that are asked for now?"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from recompose.papers.declaration import Paper
from recompose.progress import say
from recompose.provenance.checks.artifacts import ArtifactCheck
from recompose.provenance.checks.findings import Audit, Finding, Report
from recompose.provenance.checks.index import check_index
from recompose.provenance.checks.lock import check_lock
from recompose.provenance.checks.stores import Stores
from recompose.report.published import Shown
from recompose.workspace import Workspace


@dataclass(frozen=True)
class _Checks:
    """The checks of everything that reports were made from, and of each artifact."""

    stores: Stores
    artifacts: dict[str, ArtifactCheck]

    @classmethod
    def of(cls, work: Workspace, papers: list[Paper]) -> "_Checks":
        stores = Stores(work, Shown.checked(work.reports, papers))
        say(f"audit: {len(stores.shown.records)} runs and data sets, and what they were made from")
        stores.check()
        say("audit: tables, claims and the files of figures")
        names = [(paper, name) for paper in papers for name in paper.artifacts]
        checks = {f"{paper.name}/{name}": ArtifactCheck(work, paper, name, stores) for paper, name in names}
        for check in checks.values():
            check.check()
        return cls(stores, checks)

    def audit(self) -> Audit:
        report = Report()
        for part in (self.stores.report, *(check.report for check in self.artifacts.values())):
            report.add(part)
        states = {name: dict(check.states) for name, check in self.artifacts.items()}
        report.cells.update(state for found in states.values() for state in found.values())
        return Audit(
            report,
            states=states,
            why={name: check.why for name, check in self.artifacts.items()},
            runs=sum(key.startswith("runs/") for key in self.stores.shown.records),
            files=self.stores.files,
            lineages=[check.lineage for check in self.artifacts.values() if check.lineage],
            numbers=self.stores.numbers,
        )


def audit_artifacts(work: Workspace, papers: list[Paper]) -> Audit:
    """Check every artifact and everything it was made from; figures by their digests, without drawing them again."""
    return _Checks.of(work, papers).audit()


def audit(work: Workspace, papers: list[Paper]) -> Audit:
    """Check every artifact, everything it was made from, and the index of the reports; where no runs are, dvc.lock is asked."""
    checks = _Checks.of(work, papers)
    index = check_index(work, papers, checks.audit())  # the page tells of an audit without drawings
    say("audit: the numbers of figures, drawn again")
    for check in checks.artifacts.values():
        check.draw_again()
    found = checks.audit()
    found.report.add(index)
    if not any(work.runs.root.glob(f"*/{work.runs.record_name}")):
        found.report.add(check_lock(work.root))
    return found


def audit_document(found: Audit, shown: Shown) -> dict[str, Any]:
    """An audit as plain values."""
    return {
        "clean": found.report.clean,
        "runs": found.runs,
        "recomputed": found.recomputed,
        "files": found.files,
        "cells": dict(found.report.cells),
        "artifacts": {name: dict(Counter(states.values())) for name, states in found.states.items()},
        "findings": [vars(each) | {"keys": list(each.keys), "reaches": reach(shown, each)} for each in found.findings],
        "unchecked": found.report.unchecked,
    }


def reach(shown: Shown, finding: Finding) -> dict[str, int]:
    """How many cells of each artifact rest on what a finding concerns."""
    cells: Counter[str] = Counter()
    for key in finding.keys:
        cells.update({name: len(found) for name, found in shown.reach(key).items()})
    return dict(cells)
