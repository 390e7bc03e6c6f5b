"""Slurm jobs of earlier calls of the workflow, which go on after Snakemake was killed or on another host.

A new job with the same recipes starts after them; otherwise it would wait for their locks while it occupies GPUs.
"""

import subprocess
from collections.abc import Mapping
from pathlib import Path

COMMAND = ("squeue", "--me", "--noheader", "--format=%i|%Z|%k")  # job number, working folder, comment
PATIENCE = 60  # seconds


def queued_jobs(root: Path) -> dict[str, list[str]]:
    """Return the numbers of a workspace's waiting and running jobs, by the digest at the end of their names.

    The result is empty if Slurm does not answer.
    """
    try:
        output = subprocess.run(COMMAND, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    numbers: dict[str, list[str]] = {}
    for line in output.splitlines():
        number, folder, comment = [*line.split("|", 2), "", ""][:3]
        if folder == str(root) and number.isdigit():
            numbers.setdefault(comment.rpartition("-")[2], []).append(number)
    return numbers


def dependency_option(numbers: Mapping[str, list[str]], name: str) -> str:
    """Return the option of sbatch that starts a job after the queued ones of the same digest, or an empty string.

    >>> dependency_option({"0123456789ab": ["7", "9"]}, "csp-on-cgqa-seed-0-0123456789ab")
    '--dependency=afterany:7:9'
    """
    same = numbers.get(name.rpartition("-")[2])
    return f"--dependency=afterany:{':'.join(same)}" if same else ""
