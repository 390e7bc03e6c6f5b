"""The programs that the project asks, git and DVC: where one is missing or refuses, its reason is passed on."""

import subprocess
from pathlib import Path

from recompose.errors import ProgramError

PATIENCE = 3600  # seconds after which a program counts as hanging


def git(*arguments: str, folder: Path = Path()) -> str:
    """Return the output of a git command in a folder. Leaves no lock if killed.

    Raises:
        ProgramError: git is not installed, or refuses, as without a repository.
    """
    return _output(["git", "--no-optional-locks", *arguments], folder)


def dvc(*arguments: str, folder: Path) -> str:
    """Return the output of a DVC command in a folder.

    Raises:
        ProgramError: DVC is not installed, or refuses, as without a git repository.
    """
    return _output(["dvc", *arguments], folder)


def _output(command: list[str], folder: Path) -> str:
    name = command[0]
    try:
        process = subprocess.run(
            command, cwd=folder, capture_output=True, encoding="utf-8", errors="replace", timeout=PATIENCE
        )
    except OSError as error:
        fault = "is not installed" if error.filename == name else f"cannot be started ({error})"
        raise ProgramError(f"{name} {fault}", place=name) from None
    except subprocess.TimeoutExpired:
        raise ProgramError(f"{name} has not answered for {PATIENCE} seconds", place=name) from None
    if process.returncode:
        reason = " ".join((process.stderr.strip() or process.stdout).split()) or f"exit status {process.returncode}"
        raise ProgramError(f"{name}: {reason}", place=name)
    return process.stdout.strip()
