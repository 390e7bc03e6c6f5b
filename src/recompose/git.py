"""Git, as far as the project asks it: it may be missing, and so may a repository."""

import subprocess
from pathlib import Path


def git(*arguments: str, folder: Path = Path()) -> str | None:
    """Return the output of a git command in a folder, or None where it fails. Leaves no lock if killed."""
    command = ["git", "--no-optional-locks", "-C", str(folder), *arguments]
    try:
        process = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return process.stdout.strip()
