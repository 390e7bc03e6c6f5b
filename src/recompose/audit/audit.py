"""The audit: a check that the reports follow from their evaluations, and that these are the ones asked for now.

A check of what belongs to no artifact (the index of the reports, dvc.lock) is a function that yields findings.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from recompose.audit.artifacts import ArtifactCheck
from recompose.audit.findings import UNCHECKED, Audit, Finding
from recompose.audit.stored import Stored
from recompose.audit.trust import CHANGED
from recompose.digest import sha256_file
from recompose.errors import LineageError, ProgramError
from recompose.files import Document
from recompose.papers.declaration import Paper
from recompose.params.documents import read_document
from recompose.programs import dvc
from recompose.progress import say
from recompose.tables.provenance import MADE, PROVENANCE, Made, Provenance, Values, provenance_text
from recompose.tables.published import PublishedLineage
from recompose.workspace import Workspace

LOCK = "dvc.lock"
STAGES = ("reports",)
RESTORE = "look at `git diff` first; `git checkout -- reports`, or `dvc commit` where you made them"


def audit(work: Workspace, papers: list[Paper], published: PublishedLineage, *, quick: bool = False) -> Audit:
    """Check every artifact and every byte that it was made from.

    Args:
        work: the workspace of the reports.
        papers: the papers to check.
        published: the valid lineage of the reports.
        quick: true to compare figures by their digests alone, and files untouched since they were last read by their
            times alone.
    """
    say(f"audit: {len(published.records)} stored results", detail=True)
    stored = Stored(work, published, reading=not quick)
    stored.check()
    say("audit: tables, claims and figures", detail=True)
    checks = [ArtifactCheck(stored, paper, name) for paper in papers for name in paper.artifacts]
    for check in checks:
        check.check(drawing=not quick)
    # artifacts share the findings of what they rest on
    everything = dict.fromkeys([*stored.findings, *(finding for check in checks for finding in check.findings)])
    rebuilt = {key for finding in everything if finding.code == "rebuilt" for key in finding.keys}
    return Audit(
        [*everything],
        trusts={check.artifact: check.trusts for check in checks},
        evaluations=sum(record.kind == "evaluations" for record in published.records.values()),
        files=stored.files,
        numbers={key: numbers for key, numbers in stored.numbers.items() if key not in rebuilt},
        published=len(stored.followed),
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
        "findings": [
            {part: getattr(finding, part) for part in ("code", "state", "place", "why", "remedy", "keys")}
            | {"reaches": reach(published, finding)}
            for finding in audited.findings
        ],
    }


def reach(published: PublishedLineage, finding: Finding) -> dict[str, int]:
    """Return the number of each artifact's cells that rest on what a finding concerns."""
    cells: Counter[str] = Counter()
    for key in finding.keys:
        cells.update({name: len(reached) for name, reached in published.reach(key).items()})
    return dict(cells)


def check_beside(
    work: Workspace, published: PublishedLineage, due: Mapping[str, str], numbers: Values
) -> Iterator[Finding]:
    """Check what belongs to no artifact: the page and the files beside it, and dvc.lock where no results are stored.

    Args:
        work: the workspace of the reports.
        published: the lineage of the reports.
        due: the text of each such file, as far as it is known what would be written now.
        numbers: the metrics of evaluations.
    """
    yield from _check_index(work, published, due, numbers)
    if not any(map(work.store.is_complete, work.plan.of("evaluations"))):
        yield from check_lock(work.root)


def _check_index(
    work: Workspace, published: PublishedLineage, due: Mapping[str, str], numbers: Values
) -> Iterator[Finding]:
    """Compare files with their digests in provenance.json, and with what is due."""
    place = f"{work.reports_place}/{PROVENANCE}"
    try:
        provenance = Provenance.read(work.reports)
    except FileNotFoundError:
        yield Finding.of("missing-file", place, "is missing")
        return
    except LineageError as error:
        yield Finding.of("unreadable", place, str(error))
        return
    written = provenance.files
    if published.made and sha256_file(work.reports / PROVENANCE) != Made.read(work.reports).provenance:
        yield Finding.of("changed-file", place, CHANGED)
    if due and not published.faults:
        text = provenance_text(published.lineages, numbers, written, provenance.recipe)
        if text != (work.reports / PROVENANCE).read_bytes().decode("utf-8", "replace"):
            yield Finding.of("other-text", place, "has other metrics than scores give, or was written by other code")
    if not (work.reports / MADE).is_file():
        yield Finding.of("missing-file", f"{work.reports_place}/{MADE}", "is missing")
    elif published.records and not published.made:
        yield Finding.of("unreadable", f"{work.reports_place}/{MADE}", "cannot be read")
    if not due:
        yield Finding.of(UNCHECKED, "the index", "it needs results that are missing or not valid")
    for name in dict.fromkeys([*written, *due]):
        path, place = work.reports / name, f"{work.reports_place}/{name}"
        if not path.is_file():
            yield Finding.of("missing-file", place, "is missing")
        elif sha256_file(path) != written.get(name):
            yield Finding.of("changed-file", place, CHANGED)
        elif name in due and path.read_bytes().decode("utf-8", "replace") != due[name]:
            why = "artifacts, parameters, or the code that writes it, changed since"
            yield Finding.of("other-text", place, why)


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
