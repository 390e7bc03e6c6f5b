"""DVC's remote: where what is not on this disk may be had."""

import subprocess
from pathlib import Path

PATIENCE = 3600  # seconds after which it hangs


def has_remote(root: Path) -> bool:
    """Whether the project has a remote that `dvc pull` pulls from."""
    try:
        done = subprocess.run(["dvc", "remote", "default"], cwd=root, capture_output=True, timeout=PATIENCE)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0


def remedy(root: Path) -> str:
    """What to do about what is not on this disk."""
    if has_remote(root):
        return "`dvc pull` brings what is not on this disk; numbers follow from results/data and results/evaluations"
    return "`snakemake --cores all` makes what is not on this disk; DVC has no remote here to pull it from"
