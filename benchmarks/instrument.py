"""A search for the sizes of the profile study: how many comparisons an hour of one core decides.

``python -m benchmarks.instrument --track gzsl`` takes minutes to hours. Each candidate is a profile that changes the
images, epochs or items of the demo. The methods of headline tables run on pilot replicates, which no study uses; then
`recompose power` says how many replicates each comparison needs. A candidate is worth the comparisons that a number
of replicates decides, divided by the core-hours of these replicates. Results are kept in the folder, so an interrupted
search continues.
"""

import argparse
import json
import os
import statistics
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from benchmarks.machine import machine
from recompose.inference.power import Question, replicates_needed
from recompose.report.claims.paper_tests import compare_all
from recompose.report.claims.price import OpenTests, question_of
from recompose.report.results import StoredResults
from recompose.workspace import Workspace

ROOT = Path(__file__).parent.parent
FIRST_SEED = 50  # of the pilot; the demo has 0 and 1, the study starts at 100
SIZES = (6, 12, 24)  # replicates
PAPERS = {"czsl": ("msci", "duplex"), "gzsl": ("crest",), "vlc": ("fsc-clip", "clip-cae")}
PAIRS, CLASSES = "czsl.datasets.shapes-pairs.images", "gzsl.datasets.shapes-classes.images"
CORPUS, ITEMS = "vlc.datasets.shapes-laion.images", "vlc.suites.shapes-suites.share"
Changes = Mapping[str, Any]
# changes of the demo's settings, by dotted key; epochs: a factor of all epochs of the profile
CANDIDATES: dict[str, dict[str, Changes]] = {
    "czsl": {
        "as the demo": {},
        "three times the epochs": {"epochs": 3},
        "more test images": {PAIRS: {"train": 544, "val": 180, "test": 1000}},
        "more images": {PAIRS: {"train": 1200, "val": 500, "test": 1000}},
    },
    "gzsl": {
        "as the demo": {},
        "more test images": {CLASSES: {"trainval": 600, "test_seen": 900, "test_unseen": 1000}},
        "three times the images": {CLASSES: {"trainval": 1800, "test_seen": 900, "test_unseen": 1000}},
        "three times the epochs": {"epochs": 3},
        "three times both": {CLASSES: {"trainval": 1800, "test_seen": 900, "test_unseen": 1000}, "epochs": 3},
    },
    "vlc": {
        "as the demo": {},
        "three times the epochs": {"epochs": 3},
        "all items": {ITEMS: 1.0},
        "twice the items": {ITEMS: 2.0},
        "four times the items": {ITEMS: 4.0},
        "three times the images": {CORPUS: 960},
    },
}


def profile(track: str, changes: Changes, replicates: int) -> dict[str, Any]:
    """Return the profile of a candidate."""
    seeds = list(range(FIRST_SEED, FIRST_SEED + replicates))
    return {
        "based_on": "demo",
        "epochs_factor": changes.get("epochs", 1),
        track: {"extent": "headline", "seeds": seeds, "repeat_variants": True},
        "override": {key: value for key, value in changes.items() if key != "epochs"},
    }


def prepare(folder: Path, track: str, replicates: int) -> None:
    """Clone the project, and add a profile for each candidate."""
    if not folder.exists():
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder)], check=True)
    params = folder / "params.yaml"
    document = yaml.safe_load(params.read_text())
    for name, changes in CANDIDATES[track].items():
        document["profiles"][slug(track, name)] = profile(track, changes, replicates)
    params.write_text(yaml.safe_dump(document, sort_keys=False))


def slug(track: str, name: str) -> str:
    """Return the name of a candidate's profile."""
    return f"pilot-{track}-{name.replace(' ', '-')}"


def run(folder: Path, name: str, *arguments: str) -> None:
    """Run a command under a profile."""
    environment = os.environ | {"RECOMPOSE_PROFILE": name, "PYTHONPATH": str(folder / "src")}
    subprocess.run(arguments, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)


def replicate_seconds(work: Workspace, track: str, replicates: int) -> float:
    """Return the seconds of one core that a replicate takes: data, features, runs and evaluations."""
    seconds = 0.0
    for recipe in work.plan.by_key.values():
        path = work.results / recipe.key / "record.json"
        if recipe.track == track and path.exists():
            made = json.loads(path.read_text())["made"]
            seconds += made["seconds"] / (made.get("shared_by") or 1)
    return seconds / replicates


def questions(work: Workspace, track: str) -> Iterator[tuple[Question, float]]:
    """Yield each comparison of the headline methods, tested as if none were decided yet, and its difference."""
    papers = {paper.name: paper for paper in work.papers}
    for name in PAPERS[track]:
        (benchmark,) = work.plan.benchmarks(track)
        tested = compare_all(StoredResults(work), papers[name], benchmark)
        spread = {c: t.difference for c, t in tested.items() if t.difference.spread and t.difference.value is not None}
        tests = OpenTests(len(spread), len(spread))
        for comparison, difference in spread.items():
            yield question_of(comparison, tests, difference.spread), difference.value


def row(folder: Path, track: str, name: str, replicates: int) -> str:
    """Run a candidate, and return its line of the table."""
    candidate = slug(track, name)
    run(folder, candidate, "snakemake", *(f"reports/{candidate}/{paper}/claims.csv" for paper in PAPERS[track]))
    os.environ["RECOMPOSE_PROFILE"] = candidate
    work = Workspace(folder)
    seconds = replicate_seconds(work, track, replicates)
    asked = list(questions(work, track))
    spread = statistics.median(question.spread / question.margin for question, _ in asked)
    size = statistics.median(abs(difference) / question.spread for question, difference in asked)
    needed = [replicates_needed(question, difference) or 10**9 for question, difference in asked]
    decided = [sum(n <= size for n in needed) for size in SIZES]
    best = max(count / (n * seconds / 3600) for n, count in zip(SIZES, decided, strict=True))
    cells = [name, f"{seconds:.0f} s", str(len(asked)), f"{spread:.1f}", f"{size:.1f}"]
    return f"| {' | '.join([*cells, *map(str, decided), f'{best:.0f}'])} |"


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--track", choices=CANDIDATES, required=True)
    parser.add_argument("--replicates", type=int, default=6, help="of the pilot (default: %(default)s)")
    parser.add_argument("--folder", type=Path, required=True, help="a clone that keeps the results; made if absent")
    options = parser.parse_args()
    prepare(options.folder, options.track, options.replicates)
    print(f"{options.replicates} replicates of the headline methods, on {machine()}.\n")
    sizes = " | ".join(f"decided by {n}" for n in SIZES)
    print(f"| sizes | replicate | comparisons | spread / margin | difference / spread | {sizes} | per core-hour |")
    print("| :--- " + "| ---: " * (5 + len(SIZES)) + "|")
    for name in CANDIDATES[options.track]:
        print(row(options.folder, options.track, name, options.replicates), flush=True)


if __name__ == "__main__":
    main()
