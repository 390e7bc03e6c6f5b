"""Kill the workflow again and again, and compare what it makes with a clone in which it was left alone.

Usage: ``python -m benchmarks.kills FINISHED [--kills 30] [--seconds 15 60] [--seed 0]``, where FINISHED is a clone of
the same commit in which `make reproduce` has ended. Takes about half an hour with the profile `demo`.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from benchmarks.machine import machine
from recompose.files import read_json

COSTS = ("costs.json", "log.txt")  # what tells time and memory, which are others each time
COMMAND = ("snakemake", "--cores", "all")


def files_by_recipe(project: Path) -> dict[str, dict[str, str]]:
    """Return the digests of the files of all that is stored: KIND/DIGEST -> file -> SHA-256."""
    records = sorted((project / "results").glob("*/*/record.json"))
    return {
        f"{path.parent.parent.name}/{path.parent.name}": {
            name: digest for name, digest in read_json(path)["files"].items() if name not in COSTS
        }
        for path in records
    }


def kill_after(seconds: float, project: Path, variables: dict[str, str]) -> bool:
    """Start the workflow and kill its whole process group; return false where it ended before."""
    process = subprocess.Popen(
        COMMAND,
        cwd=project,
        env=variables,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + seconds
    while time.monotonic() < until and process.poll() is None:
        time.sleep(0.2)
    runs = process.poll() is None
    if runs:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return runs


def main() -> None:
    """Print one line for each kill, and one that says whether all files are the same."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("finished", type=Path, help="a clone in which the workflow has ended")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seconds", type=float, nargs=2, default=(15.0, 60.0), help="the least and most until a kill")
    parser.add_argument("--seed", type=int, default=0, help="of the moments of kills")
    arguments = parser.parse_args()
    rng = Random(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        subprocess.run(["git", "clone", "--quiet", str(arguments.finished), str(project)], check=True)
        variables = {**os.environ, "PYTHONPATH": str(project / "src")}
        for number in range(1, arguments.kills + 1):
            seconds = rng.uniform(*arguments.seconds)
            killed = kill_after(seconds, project, variables)
            print(f"{number:2d}: {'killed' if killed else 'ended'} after {seconds:.0f} s", flush=True)
        subprocess.run(COMMAND, cwd=project, env=variables, check=True, capture_output=True)
        expected, made = files_by_recipe(arguments.finished), files_by_recipe(project)
    different = sorted(key for key in expected.keys() | made.keys() if expected.get(key) != made.get(key))
    print(f"{len(expected)} stored things, {len(different)} different: {', '.join(different) or 'none'}; {machine()}")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
