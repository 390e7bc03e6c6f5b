"""How long the workflow takes as users call it, each beside the bound it has to keep: ``make benchmarks``.

Works in a fresh clone, takes about half an hour and prints a Markdown table.
"""

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from benchmarks.machine import machine

ROOT = Path(__file__).parent.parent
TRACE = ("trace", "reports/msci/table-2.csv", "--row", "CSP", "--column", "shapes-pairs AUC")
PICTURES = 2_000


def seconds(*command: str, cwd: Path, **variables: str) -> float:
    """Wall time of a command that has to succeed."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    start = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, env=kept | variables, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return time.perf_counter() - start


def cpu(*command: str, cwd: Path, **variables: str) -> float:
    """CPU seconds of a command that has to succeed, and of all processes that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds(*command, cwd=cwd, **variables)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def milliseconds_a_picture() -> float:
    """Drawing one picture of the data set, without writing it."""
    from recompose.synthetic.objects import OBJECTS, STATES, draw_object, finish, ground

    start = time.perf_counter()
    for index in range(PICTURES):
        rng = Random(index)
        picture = ground(rng)
        draw_object(picture, rng.choice(list(OBJECTS)), (rng.choice(STATES),), (32, 32), 22, rng)
        finish(picture)
    return 1000 * (time.perf_counter() - start) / PICTURES


def measure(folder: Path) -> list[tuple[str, str, str]]:
    """What was measured, its value and its bound."""
    project = folder / "project"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(project)], check=True)
    counted = folder / "torch"
    counting = {"PYTHONPATH": str(ROOT / "benchmarks" / "count_torch"), "TORCH_PROCESSES": str(counted)}
    whole = seconds("make", "reproduce", cwd=project, **counting)
    path = {"PATH": f"{project / '.venv/bin'}{os.pathsep}{os.environ['PATH']}"}
    rows = [
        ("`make reproduce`, environment included", f"{whole / 60:.1f} min", "25 min"),
        ("its processes that import torch", str(len(counted.read_text().splitlines())), "12"),
        ("`snakemake -n` on the finished tree", f"{cpu('snakemake', '-n', cwd=project, **path):.1f} s of CPU", "6 s"),
    ]
    for command, bound in ((("plan",), 1), (("status",), 1), (TRACE, 1), (("audit",), 30), (("report",), 10)):
        value = cpu("recompose", *command, cwd=project, **path)
        rows.append((f"`recompose {command[0]}`", f"{value:.1f} s of CPU", f"{bound} s"))
    rows.append(("`dvc repro` with nothing to do", f"{cpu('dvc', 'repro', cwd=project, **path):.1f} s of CPU", "30 s"))
    page = (project / "reports/index.html").stat().st_size
    rows.append(("the report site, one page", f"{page / 2**20:.1f} MiB", "5 MiB"))
    shutil.rmtree(project / "results")
    shutil.rmtree(project / "data")
    params = project / "params.yaml"
    params.write_text(params.read_text().replace("profile: demo", "profile: smoke"))
    smoke = seconds("snakemake", "--cores", "all", cwd=project, **path)
    rows.append(("`snakemake --cores all` with the profile `smoke`", f"{smoke / 60:.1f} min", "3 min"))
    rows.append(("drawing a picture", f"{milliseconds_a_picture():.2f} ms", "1 ms"))
    return rows


def main() -> None:
    """Measure in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder))
    print(f"Measured with `make benchmarks` on {machine()}.\n")
    print("| what | measured | bound |\n| --- | ---: | ---: |")
    for row in rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
