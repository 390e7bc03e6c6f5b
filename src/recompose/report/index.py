"""The index of reports for code hosts, and the numbers that DVC compares between experiments."""

from statistics import mean
from typing import Any

from recompose.files import write_json, write_text
from recompose.metrics.worlds import WORLDS
from recompose.papers.declaration import METRICS, Paper
from recompose.report.formats import escape_markdown
from recompose.report.tables import read_metrics
from recompose.workspace import Workspace


def write_metrics(work: Workspace) -> None:
    """Write ``metrics.json``: data set, method, world and metric, in percent, means over seeds of test images."""
    numbers: dict[str, Any] = {}
    for dataset in work.plan.datasets:
        for method in work.params.chosen.methods:
            runs = [run for run in work.plan.runs_of(method, dataset) if work.runs.is_complete(run)]
            measured = [read_metrics(work, run) for run in runs]
            if measured:
                numbers.setdefault(dataset, {})[method] = {
                    world: {
                        column: round(100 * mean(values[f"test/{world}"][metric] for values in measured), 4)
                        for column, metric in METRICS.items()
                    }
                    for world in WORLDS
                }
    write_json(work.reports / "metrics.json", numbers)


def write_index(work: Workspace, papers: list[Paper]) -> None:
    """Write ``README.md``: the papers and their artifacts, each a click away."""
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
            figure = artifact.kind == "curves"
            endings = ("svg", "png", "csv") if figure else ("md", "csv", "tex")
            links = " ".join(f"[{ending}]({paper.name}/{name}.{ending})" for ending in endings)
            lines.append(
                f"- **{name}** {escape_markdown(artifact.caption)} {links} [lineage]({paper.name}/{name}.lineage.json)"
            )
        for name, artifact in paper.artifacts.items():
            if artifact.kind == "curves":
                lines += ["", f"![{escape_markdown(artifact.caption)}]({paper.name}/{name}.png)"]
    write_text(work.reports / "README.md", "\n".join(lines) + "\n")


def _notes(paper: Paper) -> str:
    return f"../src/recompose/papers/{paper.name}/notes.md"
