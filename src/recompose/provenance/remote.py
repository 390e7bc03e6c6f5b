"""DVC's remote, from which missing results may be pulled."""

from pathlib import Path

from recompose.errors import ProgramError
from recompose.programs import dvc


def has_remote(root: Path) -> bool:
    """Return true where the project has a remote that `dvc pull` pulls from."""
    return not _fault(root)


def remedy(root: Path) -> str:
    """Return the command that restores missing results."""
    if fault := _fault(root):
        return f"`snakemake --cores all` makes missing results; there is no DVC remote to pull them from ({fault})"
    return "`dvc pull` restores missing results; numbers follow from results/data and results/evaluations"


def _fault(root: Path) -> str:
    """Return why nothing can be pulled, in DVC's words; empty where it can."""
    try:
        dvc("remote", "default", folder=root)
    except ProgramError as error:
        return str(error)
    return ""
