"""CODECHECK: a configuration file of a check that an audit has passed.

The format is version 1.0 of https://codecheck.org.uk/spec/config/1.0/. What the CODECHECK register assigns, a
certificate and the address of its report, is added by hand: the file holds no placeholders.
"""

from datetime import datetime
from pathlib import Path

import yaml

from recompose.errors import ReleaseError
from recompose.files import Document, write_text
from recompose.papers.declaration import Paper
from recompose.provenance.citation import read_citation
from recompose.provenance.crate import CITATION
from recompose.report.findings import Audit
from recompose.report.kinds import artifact_files
from recompose.report.trust import CURRENT, UNCHECKED
from recompose.workspace import Workspace

SPECIFICATION = "https://codecheck.org.uk/spec/config/1.0/"


def write_codecheck(
    work: Workspace, papers: list[Paper], audited: Audit, target: Path, checker: str, time: datetime
) -> None:
    """Write ``codecheck.yml`` from a clean audit.

    Args:
        work: the workspace of the reports.
        papers: the papers with reports.
        audited: the audit.
        target: the file to write.
        checker: the name of who checked.
        time: when the audit was made.

    Raises:
        ReleaseError: the audit found something, or recomputed no number.
    """
    if audited.findings or not audited.recomputed:
        message = f"{target} is not written: the audit {audited.verdict if audited.findings else 'recomputed nothing'}"
        raise ReleaseError(message, code="not-clean", place=target)
    document = codecheck_document(work, papers, audited, checker, time)
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=110)
    write_text(target, f"---\n{text}")


def codecheck_document(work: Workspace, papers: list[Paper], audited: Audit, checker: str, time: datetime) -> Document:
    """Return the content of ``codecheck.yml``: what is checked, its files, by whom, when, and what that showed."""
    cited = read_citation(work.root / CITATION)
    manifest = [
        {"file": f"{work.reports_place}/{paper.name}/{file}", "comment": f"{paper.name}/{name}: {artifact.caption}"}
        for paper in papers
        for name, artifact in paper.artifacts.items()
        for file in artifact_files(paper, name)[:1]
        if (work.reports / paper.name / file).is_file()
    ]
    cells = audited.report.cells
    unchecked = f", and {cells[UNCHECKED]} rest on results that were not at hand" if cells[UNCHECKED] else ""
    return {
        "version": SPECIFICATION,
        "paper": {"title": cited.title, "authors": [{"name": author.full_name} for author in cited.authors]},
        "manifest": manifest,
        "codechecker": [{"name": checker}],
        "summary": (
            f"recompose audit recomputed {audited.recomputed} of {audited.evaluations} evaluations from their scores, "
            f"and found no difference. Of {cells.total()} numbers, {cells[CURRENT]} hold with everything behind "
            f"them{unchecked}. Nothing was trained again."
        ),
        "check_time": time.isoformat(timespec="seconds"),
    }
