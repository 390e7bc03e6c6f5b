"""DVC's remote, from which missing results may be pulled."""

import subprocess
from pathlib import Path

PATIENCE = 3600  # seconds after which dvc counts as hanging


def has_remote(root: Path) -> bool:
    """Return true where the project has a remote that `dvc pull` pulls from."""
    try:
        process = subprocess.run(["dvc", "remote", "default"], cwd=root, capture_output=True, timeout=PATIENCE)
    except (OSError, subprocess.SubprocessError):
        return False
    return process.returncode == 0


def remedy(root: Path) -> str:
    """Return the command that restores missing results."""
    if has_remote(root):
        return "`dvc pull` restores missing results; numbers follow from results/data and results/evaluations"
    return "`snakemake --cores all` makes missing results; the project has no DVC remote to pull them from"
