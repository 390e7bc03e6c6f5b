"""What DVC's lock says of the reports, where there are no runs to make them from again."""

import json
import subprocess
from pathlib import Path

from recompose.report.findings import Finding, Report

STAGES = ("reports",)
REMEDY = "`git checkout -- reports`, or, where you made them, `dvc commit`"


def check_lock(root: Path) -> Report:
    """Compare the reports with dvc.lock."""
    done = _dvc(root)
    if done is None:
        return Report(unchecked=["reports against dvc.lock: there is no dvc, no .dvc or no dvc.lock to ask"])
    changed = [
        (path, how)
        for parts in done.values()
        for part in parts
        if isinstance(part, dict)
        for path, how in part.get("changed outs", {}).items()
    ]
    return Report(
        findings=[Finding("tampered", path, f"is not what dvc.lock says ({how})", REMEDY) for path, how in changed]
    )


def _dvc(root: Path) -> dict[str, list[object]] | None:
    """What ``dvc status`` says of the stages that write reports; None where it cannot."""
    if not (root / "dvc.lock").is_file():
        return None
    try:
        done = subprocess.run(
            ["dvc", "status", "--json", *STAGES], cwd=root, capture_output=True, text=True, check=True, timeout=120
        )
        status: dict[str, list[object]] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, json.JSONDecodeError):
        return None
    return status
