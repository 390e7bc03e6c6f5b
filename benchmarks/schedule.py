"""How much faster the runs of a profile are on more cores, by the schedule with measured costs: ``python -m
benchmarks.schedule``.

Where a machine of 16 cores is at hand, time `snakemake --cores 2 runs` and `snakemake --cores 16 runs` there; this says
what to expect.
"""

import subprocess
import sys
import time
from pathlib import Path

from benchmarks.machine import machine
from recompose.engine import TRAINED, Engine, LocalMachine
from recompose.workspace import Workspace

ROOT = Path(__file__).parent.parent
IMPORTS = "import torch, pytorch_lightning, open_clip"


def start_of_a_process() -> float:
    """Seconds until a process can train: all of its imports."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", IMPORTS], check=True)
    return time.perf_counter() - start


def wall_seconds(work: Workspace, cores: int, start: float) -> float:
    """From start to end: as long as the longest of its processes."""
    recipes = [recipe for recipe in work.plan.recipes if recipe.kind in TRAINED]
    jobs = Engine(work, LocalMachine(cores)).batches(recipes)
    return start + max(job.seconds for job in jobs)


def main() -> None:
    """Print a Markdown table."""
    work, start = Workspace(ROOT), start_of_a_process()
    two = wall_seconds(work, 2, start)
    print(f"Profile {work.params.profile}, costs as measured, {start:.0f} s to start a process, on {machine()}.\n")
    print("| cores | runs and evaluations | faster than on 2 |\n| ---: | ---: | ---: |")
    for cores in (2, 4, 8, 16):
        seconds = wall_seconds(work, cores, start)
        print(f"| {cores} | {seconds:.0f} s | {two / seconds:.1f} |")


if __name__ == "__main__":
    main()
