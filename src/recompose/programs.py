"""The programs that the project asks, such as git and DVC: where one is missing or refuses, it says why."""

import re
import subprocess
from pathlib import Path

from recompose.errors import ProgramError

PATIENCE = 3600  # seconds after which a program counts as hanging
_ASIDE = re.compile("Traceback|Having any troubles")  # what DVC adds to its reason


def git(*arguments: str, folder: Path = Path()) -> str:
    """Return the output of a git command in a folder. Leaves no lock if killed.

    Raises:
        ProgramError: git is not installed, or refuses, as without a repository.
    """
    return ask("git", "--no-optional-locks", *arguments, folder=folder)


def dvc(*arguments: str, folder: Path) -> str:
    """Return the output of a DVC command in a folder.

    Raises:
        ProgramError: DVC is not installed, or refuses, as without a git repository.
    """
    return ask("dvc", *arguments, folder=folder)


def ask(name: str, *arguments: str, folder: Path = Path(), patience: float = PATIENCE) -> str:
    """Return the output of a program in a folder.

    Raises:
        ProgramError: it is not installed, refuses, or does not answer for so many seconds.
    """
    try:
        process = subprocess.run(
            [name, *arguments], cwd=folder, capture_output=True, encoding="utf-8", errors="replace", timeout=patience
        )
    except OSError as error:
        fault = "is not installed" if error.filename == name else f"cannot be started ({error})"
        raise ProgramError(f"{name} {fault}", place=name) from None
    except subprocess.TimeoutExpired:
        raise ProgramError(f"{name} has not answered for {patience:g} seconds", place=name) from None
    if process.returncode:
        reason = " ".join(_ASIDE.split(process.stderr.strip() or process.stdout)[0].split())
        reason = reason or f"exit status {process.returncode}"
        raise ProgramError(f"{name}: {reason}", place=name)
    return process.stdout.strip()
