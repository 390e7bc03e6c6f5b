"""How much faster the runs of a profile are on more cores, by the schedule with measured costs: ``python -m
benchmarks.schedule``.

Where a machine of 16 cores is at hand, time `snakemake --cores 2 runs` and `snakemake --cores 16 runs` there; this says
what to expect.
"""

import heapq
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.machine import machine
from recompose.engine import ALL, TRAINED, Engine, Job, LocalMachine
from recompose.workspace import Workspace

ROOT = Path(__file__).parent.parent
IMPORTS = "import torch, pytorch_lightning, open_clip"


def start_of_a_process() -> float:
    """Seconds until a process can train: all of its imports."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", IMPORTS], check=True)
    return time.perf_counter() - start


def wall_seconds(jobs: list[Job], cores: int, start: float) -> float:
    """Return the seconds until the last core is done, each taking the next job when it is free."""
    free_at = [start] * cores
    for job in jobs:
        heapq.heapreplace(free_at, free_at[0] + job.seconds)
    return max(free_at)


def main() -> None:
    """Print a Markdown table."""
    with tempfile.TemporaryDirectory() as clone:  # where nothing is made yet
        subprocess.run(["git", "clone", "--quiet", str(ROOT), clone], check=True)
        work = Workspace(Path(clone))
        jobs = [job for job in Engine(work, LocalMachine(2)).jobs(ALL) if job.phase in TRAINED]
    start = start_of_a_process()
    two = wall_seconds(jobs, 2, start)
    print(f"Profile {work.params.profile}, costs as measured, {start:.0f} s to start a process, on {machine()}.\n")
    print("| cores | runs and evaluations | faster than on 2 |\n| ---: | ---: | ---: |")
    for cores in (2, 4, 8, 16):
        seconds = wall_seconds(jobs, cores, start)
        print(f"| {cores} | {seconds:.0f} s | {two / seconds:.1f} |")


if __name__ == "__main__":
    main()
