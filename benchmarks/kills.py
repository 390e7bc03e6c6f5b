"""Kill the workflow again and again, and compare what it makes with a clone in which it was left alone.

Usage: ``python -m benchmarks.kills FINISHED [--kills 60] [--workers 20] [--seconds 5 30] [--seed 0]``, where FINISHED
is a clone of the same commit in which `make reproduce` has ended. In random order, either the whole process group is
killed and the workflow started again, or only the server of jobs or one of its children is killed while Snakemake
continues. It takes about half an hour with the profile `demo`.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from random import Random

import psutil

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


def start(project: Path, variables: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start the workflow in a process group of its own."""
    quiet = subprocess.DEVNULL
    return subprocess.Popen(COMMAND, cwd=project, env=variables, start_new_session=True, stdout=quiet, stderr=quiet)


def runs_for(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Wait for some seconds, or until a process ends; return true if it still runs."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)
    return process.poll() is None


def kill_all(process: subprocess.Popen[bytes], _: Random) -> str:
    """Kill the whole process group, as a machine that goes down does."""
    os.killpg(process.pid, signal.SIGKILL)
    return "all"


def kill_worker(process: subprocess.Popen[bytes], rng: Random) -> str:
    """Kill the server of jobs or one of its children, as a system without memory does; Snakemake goes on."""
    named = "recompose.workflow.worker.server"
    with suppress(psutil.NoSuchProcess, IndexError):
        below = psutil.Process(process.pid).children(recursive=True)
        victim = rng.choice([each for each in below if named in " ".join(each.cmdline())])
        is_child = named in " ".join(psutil.Process(victim.ppid()).cmdline())
        victim.kill()
        return "a child of the server" if is_child else "the server"
    return "nothing"


def main() -> None:
    """Print one line for each kill, and one that says whether all files are the same."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("finished", type=Path, help="a clone in which the workflow has ended")
    parser.add_argument("--kills", type=int, default=60, help="of the whole process group")
    parser.add_argument("--workers", type=int, default=20, help="kills of the server of jobs or of a child of it alone")
    parser.add_argument("--seconds", type=float, nargs=2, default=(5.0, 30.0), help="the least and most until a kill")
    parser.add_argument("--seed", type=int, default=0, help="of the moments of kills")
    arguments = parser.parse_args()
    rng, counts = Random(arguments.seed), (arguments.kills, arguments.workers)
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "project"
        subprocess.run(["git", "clone", "--quiet", str(arguments.finished), str(project)], check=True)
        variables = {**os.environ, "PYTHONPATH": str(project / "src")}
        kills = rng.sample([kill_all, kill_worker], arguments.kills + arguments.workers, counts=counts)
        process = start(project, variables)
        for number, kill in enumerate(kills, 1):
            seconds = rng.uniform(*arguments.seconds)
            killed = kill(process, rng) if runs_for(process, seconds) else "nothing: it had ended"
            print(f"{number:2d}: killed {killed} after {seconds:.0f} s", flush=True)
            if kill is kill_all or process.poll() is not None:
                process.wait()
                process = start(project, variables)
        process.wait()
        subprocess.run(COMMAND, cwd=project, env=variables, check=True, capture_output=True)
        expected, made = files_by_recipe(arguments.finished), files_by_recipe(project)
    different = sorted(key for key in expected.keys() | made.keys() if expected.get(key) != made.get(key))
    print(f"{len(expected)} stored things, {len(different)} different: {', '.join(different) or 'none'}; {machine()}")
    sys.exit(bool(different))


if __name__ == "__main__":
    main()
