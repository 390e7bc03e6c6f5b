"""A check of the marked blocks in README.md and docs/ against the reports and the code."""

from pathlib import Path

from recompose.report.documents import Sources, differing_blocks
from recompose.report.findings import AuditReport, Finding

REFILL = "`recompose report`"


def check_documents(root: Path, sources: Sources) -> AuditReport:
    """Compare the marked blocks of all documents with what belongs into them."""
    differences = differing_blocks(root, sources)
    return AuditReport([Finding("stale", str(d.file), f"{d.block}: {d.reason}", REFILL) for d in differences])
