"""The index of reports for code hosts, and the numbers that DVC compares between experiments."""

import json
from statistics import mean
from typing import Any

import numpy as np

from recompose.files import write_text
from recompose.papers.declaration import METRICS, Paper
from recompose.plan import Run
from recompose.report.cells import Cell
from recompose.report.formats import escape_markdown, measured_part
from recompose.report.lineage import key_of, write_lineage
from recompose.report.numbers import read_curve, read_metrics
from recompose.report.tables import build_table
from recompose.workspace import Workspace

SHOWN = ("accuracy", "costs", "groups", "claims")  # tables whose measured part stands in the index


FILES = ("index.html", "README.md", "metrics.json", "curves.csv")
LINEAGE = "index"  # the name of the index's own lineage


def write_index(work: Workspace, papers: list[Paper], page: str) -> None:
    """Write the report site's page, the index and the numbers that DVC compares, with their lineage; all of them or none."""
    texts = (page, readme(work, papers), metrics_json(work), curves_csv(work))
    for name, text in zip(FILES, texts, strict=True):
        write_text(work.reports / name, text)
    write_lineage(work.reports / LINEAGE, work, index_cells(work), [work.reports / name for name in FILES])


def index_cells(work: Workspace) -> list[Cell]:
    """A cell per method and data set, for lineage."""
    return [
        Cell(
            method,
            dataset,
            "measured",
            "metrics",
            made_from=tuple(key_of("runs", run) for run in runs if work.runs.is_complete(run)),
            expected=tuple(key_of("runs", run) for run in runs),
            measures=(method,),
        )
        for dataset in work.plan.datasets
        for method in work.params.chosen.methods
        if (runs := work.plan.runs_of(method, dataset))
    ]


def metrics_json(work: Workspace) -> str:
    """Data set, method, world and metric, in percent, means over seeds of test images."""
    numbers: dict[str, Any] = {}
    for dataset in work.plan.datasets:
        for method in work.params.chosen.methods:
            runs = [run for run in work.plan.runs_of(method, dataset) if work.runs.is_complete(run)]
            measured = [read_metrics(work, run) for run in runs]
            if measured:
                numbers.setdefault(dataset, {})[method] = {
                    key.removeprefix("test/"): {
                        column: round(100 * mean(values[key]["dense"][metric] for values in measured), 4)
                        for column, metric in METRICS.items()
                    }
                    for key in measured[0]
                    if key.startswith("test/")
                }
    return json.dumps(numbers, indent=2) + "\n"


def curves_csv(work: Workspace) -> str:
    """The mean seen accuracy of each method at each unseen accuracy, in percent, for ``dvc plots``.

    Of the first data set, in the closed world; a method's column ends where its unseen accuracy does.
    """
    dataset = next(iter(work.plan.datasets))
    columns = {
        method: _mean_curve(work, runs)
        for method in work.params.chosen.methods
        if (runs := [run for run in work.plan.runs_of(method, dataset) if work.runs.is_complete(run)])
    }
    lines = [",".join(["unseen", *columns])]
    for unseen in range(101):
        values = [curve[unseen] for curve in columns.values()]
        lines.append(",".join([str(unseen), *("" if np.isnan(value) else f"{value:.3f}" for value in values)]))
    return "\n".join(lines) + "\n"


def _mean_curve(work: Workspace, runs: list[Run]) -> np.ndarray:
    """Seen accuracy [101] at whole percents of unseen accuracy; NaN where a seed does not reach it."""
    grid = np.linspace(0, 1, 101)
    seen = []
    for run in runs:
        points = read_curve(work, run, "closed")
        place = np.searchsorted(points.unseen, grid)
        seen.append(np.append(points.seen, np.nan)[place])
    return 100 * np.mean(seen, axis=0)


def readme(work: Workspace, papers: list[Paper]) -> str:
    """The papers and their artifacts, each a click away."""
    profile = work.params.chosen
    lines = [
        "# Reports",
        "",
        "Written by the workflow; every file is made again by `make reproduce`.",
        "",
        f"- Profile `{work.params.profile}`: data sets {', '.join(f'`{name}`' for name in profile.datasets)}, backbone `{profile.backbone}`, "
        f"methods {', '.join(f'`{name}`' for name in profile.methods)}, seeds {', '.join(map(str, profile.seeds))}.",
        "- Reported values are what a paper printed, measured values are what runs here gave. They are on different data sets "
        "unless both stand in one column.",
        '- Which runs made a number: `recompose trace reports/msci/table-2.csv --row CSP --column "shapes-pairs AUC"`.',
        "- The numbers that `dvc metrics show` and `dvc metrics diff` compare: [metrics.json](metrics.json).",
    ]
    for paper in papers:
        lines += [
            "",
            f"## {escape_markdown(paper.title)}",
            "",
            f"{paper.authors}, {paper.venue}. [Notes on what was ambiguous]({_notes(paper)})",
            "",
        ]
        for name, artifact in paper.artifacts.items():
            endings = ("svg", "png", "csv") if artifact.is_figure else ("md", "csv", "tex")
            links = " ".join(f"[{ending}]({paper.name}/{name}.{ending})" for ending in endings)
            lines.append(
                f"- **{name}** {escape_markdown(artifact.caption)} {links} [lineage]({paper.name}/{name}.lineage.json)"
            )
        for name, artifact in paper.artifacts.items():
            if artifact.kind in SHOWN and (table := build_table(work, paper, name)).measured:
                lines += ["", f"### {name}, measured", "", measured_part(table)]
            if artifact.is_figure:
                lines += ["", f"### {name}"]
                lines += ["", f"![{escape_markdown(artifact.caption)}]({paper.name}/{name}.png)"]
    return "\n".join(lines) + "\n"


def _notes(paper: Paper) -> str:
    return f"../src/recompose/papers/{paper.name}/notes.md"
