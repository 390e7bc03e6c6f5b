"""Tables: what a paper printed beside what the runs here gave."""

from collections.abc import Iterator
from dataclasses import replace
from statistics import mean, stdev

from recompose.files import read_json
from recompose.papers.declaration import METRICS, Artifact, Paper
from recompose.plan import Run
from recompose.provenance.lineage import key_of, watermarks
from recompose.report.cells import Cell, Table
from recompose.report.numbers import read_metrics
from recompose.workspace import Workspace

TABLE_1 = {  # column -> name in the statistics of a data set
    "train seen pairs": "train_pairs",
    "train images": "train_images",
    "val seen pairs": "val_seen",
    "val unseen pairs": "val_unseen",
    "val images": "val_images",
    "test seen pairs": "test_seen",
    "test unseen pairs": "test_unseen",
    "test images": "test_images",
}
ABOUT = ("category", "citation", "venue")


def build_table(work: Workspace, paper: Paper, name: str) -> Table:
    """A table with its reported and measured cells."""
    artifact = paper.artifacts[name]
    measure = {"statistics": _statistics, "accuracy": _accuracy}[artifact.kind]
    cells = [*_reported(paper, name), *measure(work, paper, artifact)]
    rows = paper.reported(name)
    return Table(
        paper=paper.name,
        name=name,
        title=f"{paper.name.upper()}, {name.replace('-', ' ').capitalize()}",
        caption=artifact.caption,
        cells=cells,
        about={row["row"]: {key: row[key] for key in ABOUT if key in row} for row in rows},
        notes=[artifact.note] if artifact.note else [],
        watermarks=watermarks(work, cells),
        views={name: view.heading for name, view in artifact.views.items()},
    )


def _reported(paper: Paper, name: str) -> Iterator[Cell]:
    flags = {(flag.row, flag.column): flag for flag in paper.artifacts[name].flags}
    for row in paper.reported(name):
        for column, text in row.items():
            if column in ("row", *ABOUT):
                continue
            flag = flags.get((row["row"], column))
            yield Cell(
                row["row"],
                column,
                "reported",
                text,
                value=None if text == "-" else float(text),
                correct=flag.correct if flag else "",
                flag=flag.why if flag else "",
            )


def _statistics(work: Workspace, paper: Paper, artifact: Artifact) -> Iterator[Cell]:
    store = work.store("index")
    for name, recipe in work.plan.datasets.items():
        counts = read_json(store.file(recipe, "statistics.json"))
        source = (key_of("index", recipe),)
        for column, key in TABLE_1.items():
            row = paper.datasets.get(name, name)
            yield Cell(row, column, "measured", str(counts[key]), counts[key], n=1, made_from=source, expected=source)


def _accuracy(work: Workspace, paper: Paper, artifact: Artifact) -> Iterator[Cell]:
    for row, method in artifact.measured.items():
        for dataset in work.plan.datasets:
            runs = work.plan.runs_of(method, dataset)
            if not runs:
                continue  # the profile does not ask for it there
            complete = [run for run in runs if work.runs.is_complete(run)]
            measured = [read_metrics(work, run) for run in complete]
            for name, view in artifact.views.items():
                key = f"test/{view.world}"
                if not all(key in numbers for numbers in measured):
                    continue  # chance knows no feasibility
                for column, metric in METRICS.items():
                    values = [100 * numbers[key][view.sweep][metric] for numbers in measured]
                    yield replace(
                        _measured(row, f"{dataset} {column}", values, complete, runs), view=name, measures=method
                    )


def _measured(row: str, column: str, values: list[float], complete: list[Run], planned: list[Run]) -> Cell:
    keys = tuple(key_of("runs", run) for run in complete)
    expected = tuple(key_of("runs", run) for run in planned)
    if not values:
        return Cell(row, column, "measured", "not run", n=0, expected=expected)
    spread = stdev(values) if len(values) > 1 else None
    text = f"{mean(values):.1f}" + (f" ± {spread:.1f}" if spread is not None else "")
    return Cell(row, column, "measured", text, mean(values), spread, len(values), keys, expected)
