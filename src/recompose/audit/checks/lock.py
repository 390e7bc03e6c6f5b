"""A check of the reports against dvc.lock, for clones without runs to recompute them from."""

import json
from pathlib import Path

from recompose.audit.findings import AuditReport, Finding
from recompose.errors import ProgramError
from recompose.params.documents import read_document
from recompose.programs import dvc

LOCK = "dvc.lock"
STAGES = ("reports",)
REMEDY = "`git checkout -- reports`, or `dvc commit` where you made them"


def check_lock(root: Path) -> AuditReport:
    """Compare the reports with dvc.lock."""
    if not (root / LOCK).is_file():
        return AuditReport(unchecked=[f"reports against {LOCK}, which is missing"])
    try:
        status = _dvc_status(root)
    except (ProgramError, json.JSONDecodeError) as error:
        return AuditReport(unchecked=[f"reports against {LOCK}: {error}"])
    paths = _paths(root)
    changed = [
        (path, change)
        for parts in status.values()
        for part in parts
        if isinstance(part, dict)
        for path, change in part.get("changed outs", {}).items()
    ]
    listed = [(path, change) for path, change in changed if path in paths or not paths]
    unlisted = [path for path, _ in changed if path not in paths] if paths else []
    return AuditReport(
        findings=[
            Finding.of("other-lock", path, f"does not match dvc.lock ({change})", remedy=REMEDY)
            for path, change in listed
        ],
        unchecked=[f"{path} against dvc.lock, which has no entry for it" for path in unlisted],
    )


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
