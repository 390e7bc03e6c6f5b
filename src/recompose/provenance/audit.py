"""The audit: does everything that the reports show follow from runs, and from those that are asked for now?"""

from collections import Counter
from typing import Any

from recompose.papers.declaration import Paper
from recompose.provenance.checks.artifacts import ArtifactCheck
from recompose.provenance.checks.findings import Audit, Finding, Report
from recompose.provenance.checks.index import check_index
from recompose.provenance.checks.lock import check_lock
from recompose.provenance.checks.stores import Stores
from recompose.provenance.shown import Shown
from recompose.workspace import Workspace


def audit_artifacts(work: Workspace, papers: list[Paper]) -> Audit:
    """Check every artifact, and everything it was made from."""
    shown = Shown.checked(work.reports, papers)
    stores = Stores(work, shown)
    stores.check()
    report = Report()
    report.add(stores.report)
    checks = {
        f"{paper.name}/{name}": ArtifactCheck(work, paper, name, stores) for paper in papers for name in paper.artifacts
    }
    for check in checks.values():
        check.check()
        report.add(check.report)
    return Audit(
        report,
        states={name: check.states for name, check in checks.items()},
        why={name: check.why for name, check in checks.items()},
        runs=sum(key.startswith("runs/") for key in shown.records),
        files=stores.files,
        lineages=[check.lineage for check in checks.values() if check.lineage],
        numbers=stores.numbers,
    )


def audit(work: Workspace, papers: list[Paper]) -> Audit:
    """Check every artifact, everything it was made from, and the index of the reports; where no runs are, dvc.lock is asked."""
    found = audit_artifacts(work, papers)
    found.report.add(check_index(work, papers, found))
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
