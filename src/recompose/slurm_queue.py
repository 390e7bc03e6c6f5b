"""Jobs that an earlier call of the workflow left with Slurm: where Snakemake was killed, or runs elsewhere, they go on.

A job that makes the same goes behind them, so that it does not wait with GPUs in its hands.
"""

import subprocess
from collections.abc import Mapping
from pathlib import Path

COMMAND = ("squeue", "--me", "--noheader", "--format=%i|%Z|%k")  # number, working folder and comment
PATIENCE = 60  # seconds


def queued(root: Path) -> dict[str, list[str]]:
    """The numbers of the jobs of a workspace that wait or run, by the digest that their names end in; none where Slurm
    does not answer.
    """
    try:
        listed = subprocess.run(COMMAND, capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return {}
    numbers: dict[str, list[str]] = {}
    for line in listed.splitlines():
        number, _, rest = line.partition("|")
        folder, _, comment = rest.partition("|")
        if folder == str(root) and number.isdigit():
            numbers.setdefault(comment.rpartition("-")[2], []).append(number)
    return numbers


def behind(numbers: Mapping[str, list[str]], name: str) -> str:
    """The option that has a job begin once those of the same name have ended; empty where there are none.

    >>> behind({"0123456789ab": ["7", "9"]}, "csp-on-cgqa-seed-0-0123456789ab")
    '--dependency=afterany:7:9'
    """
    same = numbers.get(name.rpartition("-")[2])
    return f"--dependency=afterany:{':'.join(same)}" if same else ""
