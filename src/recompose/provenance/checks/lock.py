"""What DVC's lock says of the reports, where there are no runs to make them from again."""

import json
import subprocess
from pathlib import Path

from yaml import YAMLError

from recompose.params.reading import read
from recompose.report.findings import AuditReport, Finding

LOCK = "dvc.lock"
STAGES = ("reports",)
PATIENCE = 3600  # seconds after which it hangs
REMEDY = "`git checkout -- reports`, or, where you made them, `dvc commit`"


def check_lock(root: Path) -> AuditReport:
    """Compare the reports with dvc.lock."""
    done = _dvc(root)
    if done is None:
        return AuditReport(unchecked=["reports against dvc.lock: there is no dvc, no .dvc or no dvc.lock to ask"])
    files = _files(root)
    gone = {(path, "deleted") for path, count in files.items() if count == 0}
    changed = [
        (path, how)
        for parts in done.values()
        for part in parts
        if isinstance(part, dict)
        for path, how in part.get("changed outs", {}).items()
        if (path, how) not in gone
    ]
    told = [(path, how) for path, how in changed if path in files or not files]
    others = [path for path, _ in changed if path not in files] if files else []
    return AuditReport(
        findings=[Finding("tampered", path, f"is not what dvc.lock says ({how})", REMEDY) for path, how in told],
        unchecked=[f"{path} against dvc.lock, which tells nothing of it" for path in others],
    )


def _files(root: Path) -> dict[str, int | None]:
    """Return how many files were in each folder of reports when the lock was written; None for a file, and nothing
    where the lock cannot be read.

    The lock tells of one profile's reports. Git keeps no folder without files, as those of papers whose track the
    profile leaves out, and no clone has it.
    """
    try:
        stages = read((root / LOCK).read_text(encoding="utf-8"))["stages"]
        return {out["path"]: out.get("nfiles") for stage in STAGES for out in stages[stage]["outs"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, YAMLError):
        return {}


def _dvc(root: Path) -> dict[str, list[object]] | None:
    """What ``dvc status`` says of the stages that write reports; None where it cannot."""
    if not (root / LOCK).is_file():
        return None
    try:
        done = subprocess.run(
            ["dvc", "status", "--json", *STAGES], cwd=root, capture_output=True, text=True, check=True, timeout=PATIENCE
        )
        status: dict[str, list[object]] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, json.JSONDecodeError):
        return None
    return status
