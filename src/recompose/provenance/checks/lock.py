"""A check of the reports against dvc.lock, for clones without runs to recompute them from."""

import json
import subprocess
from pathlib import Path

from yaml import YAMLError

from recompose.params.reading import read
from recompose.report.findings import AuditReport, Finding

LOCK = "dvc.lock"
STAGES = ("reports",)
PATIENCE = 3600  # seconds after which dvc counts as hanging
REMEDY = "`git checkout -- reports`, or `dvc commit` where you made them"


def check_lock(root: Path) -> AuditReport:
    """Compare the reports with dvc.lock."""
    status = _dvc_status(root)
    if status is None:
        return AuditReport(unchecked=["reports against dvc.lock: dvc, .dvc or dvc.lock is missing or cannot be read"])
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
        findings=[Finding("tampered", path, f"does not match dvc.lock ({change})", REMEDY) for path, change in listed],
        unchecked=[f"{path} against dvc.lock, which has no entry for it" for path in unlisted],
    )


def _paths(root: Path) -> set[str]:
    """Return the reports that the lock covers, which are one profile's; nothing where it cannot be read."""
    try:
        stages = read((root / LOCK).read_text(encoding="utf-8"))["stages"]
        return {out["path"] for stage in STAGES for out in stages[stage]["outs"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, YAMLError):
        return set()


def _dvc_status(root: Path) -> dict[str, list[object]] | None:
    """Return the output of ``dvc status`` for the stages that write reports, or None where it fails."""
    if not (root / LOCK).is_file():
        return None
    try:
        process = subprocess.run(
            ["dvc", "status", "--json", *STAGES], cwd=root, capture_output=True, text=True, check=True, timeout=PATIENCE
        )
        status: dict[str, list[object]] = json.loads(process.stdout)
    except (OSError, subprocess.SubprocessError, json.JSONDecodeError):
        return None
    return status
