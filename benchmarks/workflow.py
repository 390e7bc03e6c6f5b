"""Time the workflow as users call it, beside the bound that each command has to keep: ``make benchmarks``.

It works in fresh clones, takes about an hour, and prints a Markdown table.
"""

import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.machine import machine

ROOT = Path(__file__).parent.parent
FIRST_TABLE = "msci/table-2.csv"
TRACE = ("trace", "reports/demo/msci/table-2.csv", "--row", "CSP", "--column", "shapes-pairs AUC")


def seconds(*command: str, cwd: Path, **variables: str) -> float:
    """Return the wall time of a command that has to succeed."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    start = time.perf_counter()
    done = subprocess.run(command, cwd=cwd, env=kept | variables, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return time.perf_counter() - start


def cpu(*command: str, cwd: Path, **variables: str) -> float:
    """Return the CPU seconds of a command that has to succeed, with those of all processes that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds(*command, cwd=cwd, **variables)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@contextmanager
def busy_neighbour() -> Iterator[None]:
    """Keep one core busy."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


def reproduce(project: Path, **variables: str) -> tuple[float, float]:
    """Reproduce a fresh clone; return seconds until its first table is written, and until the command ends.

    Args:
        project: where HEAD is cloned to.
        variables: of the environment, beside this process's.
    """
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(project)], check=True)
    table, began = project / "reports/demo" / FIRST_TABLE, time.time()
    first: list[float] = []
    ended = threading.Event()

    def watch() -> None:
        while not first and not ended.wait(0.5):
            if table.exists() and table.stat().st_mtime > began:
                first.append(time.time() - began)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        whole = seconds("make", "reproduce", cwd=project, **variables)
    finally:
        ended.set()
        watching.join()
    return (first[0] if first else whole), whole


def measure(folder: Path) -> list[tuple[str, str, str]]:
    """Return rows of a table: what was measured, its value and its bound."""
    project, imports = folder / "project", folder / "torch"
    counting = {"PYTHONPATH": str(ROOT / "benchmarks" / "count_torch"), "TORCH_PROCESSES": str(imports)}
    first, whole = reproduce(project, **counting)
    with busy_neighbour():
        _, beside = reproduce(folder / "beside")
    path = {"PATH": f"{project / '.venv/bin'}{os.pathsep}{os.environ['PATH']}"}
    rows = [
        ("`make reproduce`, environment included", f"{whole / 60:.1f} min", "12 min"),
        ("its first table", f"{first / 60:.1f} min", "3.5 min"),
        ("`make reproduce` beside a busy process", f"{beside / whole:.2f} times as long", "1.7"),
        ("its processes that import torch", str(len(imports.read_text().splitlines())), "12"),
        ("`snakemake -n` on the finished tree", f"{cpu('snakemake', '-n', cwd=project, **path):.1f} s of CPU", "6 s"),
    ]
    for command, bound in ((("plan",), 1), (("status",), 1), (TRACE, 1), (("audit",), 30), (("report",), 10)):
        value = cpu("recompose", *command, cwd=project, **path)
        rows.append((f"`recompose {command[0]}`", f"{value:.1f} s of CPU", f"{bound} s"))
    rows.append(("`dvc repro` with nothing to do", f"{cpu('dvc', 'repro', cwd=project, **path):.1f} s of CPU", "30 s"))
    page = (project / "reports/demo/index.html").stat().st_size
    rows.append(("the report site, one page", f"{page / 2**20:.1f} MiB", "5 MiB"))
    smoke = seconds("snakemake", "--cores", "all", cwd=project, RECOMPOSE_PROFILE="smoke", **path)
    rows.append(("`snakemake --cores all` with the profile `smoke`", f"{smoke / 60:.1f} min", "7 min"))
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
