"""A check of the reports against dvc.lock, for clones without runs to recompute them from."""

import json
from collections.abc import Iterator
from pathlib import Path

from recompose.audit.findings import UNCHECKED, Finding
from recompose.errors import ProgramError
from recompose.params.documents import read_document
from recompose.programs import dvc

LOCK = "dvc.lock"
STAGES = ("reports",)
REMEDY = "`git checkout -- reports`, or `dvc commit` where you made them"


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
            yield Finding.of("other-lock", path, f"does not match dvc.lock ({change})", remedy=REMEDY)
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
