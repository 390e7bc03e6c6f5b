"""The index of reports for code hosts, the numbers that DVC compares between experiments, and how everything was
made.
"""

import json
from collections.abc import Iterator
from statistics import mean
from typing import Any

from recompose.digest import sha256_file
from recompose.files import write_json, write_text
from recompose.papers.declaration import FOLDER, PAPERS, Paper
from recompose.params import json_schema, reference
from recompose.report.formats import escape_markdown, measured_part
from recompose.report.kinds import is_figure
from recompose.report.published import MADE, PublishedLineage
from recompose.report.results import Results
from recompose.report.tables import build_table
from recompose.tracks import FORMS, TRACKS
from recompose.tracks.track import function
from recompose.workspace import Workspace

PAGE, README, METRICS, INDEX = "index.html", "README.md", "metrics.json", "index.json"
PARAMETERS, SCHEMA = "parameters.md", "params.schema.json"
NOT_SHOWN = ("settings", "statistics")  # kinds of tables whose measured part does not stand in the index


def index_texts(results: Results, papers: list[Paper]) -> dict[str, str]:
    """What stands beside the page, by file: all of it follows from what artifacts were made from."""
    return {
        README: readme(results, papers),
        METRICS: metrics_json(results),
        **{file: function(place)(results) for file, place in plots(results).items()},
        PARAMETERS: reference(FORMS),
        SCHEMA: json.dumps(json_schema(FORMS), indent=2) + "\n",
    }


def plots(results: Results) -> dict[str, str]:
    """The files of numbers for ``dvc plots`` of the tracks that the profile has: file -> function."""
    return {file: place for name in results.plan.tracks for file, place in TRACKS[name].plots.items()}


def write_index(results: Results, papers: list[Paper], published: PublishedLineage, page: str) -> list[str]:
    """Write the report site's page, the index and the numbers that DVC compares, and how everything was made; gives
    the files.

    Args:
        results: of the workspace.
        papers: whose artifacts these are.
        published: what the folders of papers hold.
        page: the report site's.
    """
    reports = results.work.reports
    for name in PAPERS:  # DVC wants the folder of a paper even where the profile leaves its track out
        (reports / name).mkdir(parents=True, exist_ok=True)
    texts = {PAGE: page, **index_texts(results, papers)}
    for name, text in texts.items():
        write_text(reports / name, text)
    write_json(reports / INDEX, {"files": {name: sha256_file(reports / name) for name in texts}})
    write_json(reports / MADE, {"results": made_of(results.work, published)})
    return [*texts, INDEX, MADE]


def made_of(work: Workspace, published: PublishedLineage) -> dict[str, Any]:
    """By what, where and when everything behind the artifacts was made; what is not on this disk as the file has it
    that is there.
    """
    recipes = {recipe.key: recipe for recipe in work.plan.recipes}
    made = {}
    for key in sorted(published.records):
        recipe = recipes.get(key)
        if recipe and work.store.is_complete(recipe):
            made[key] = work.store.record(recipe)["made"]
        elif key in published.made:
            made[key] = published.made[key]
    return made


def metrics_json(results: Results) -> str:
    """Track, benchmark, method and metric, in the metric's unit, means over seeds."""
    numbers: dict[str, Any] = {}
    for name, plan in results.plan.tracks.items():
        track = TRACKS[name]
        for benchmark in plan.benchmarks:
            for method in plan.methods:
                measured = [results.metrics(each) for each in results.complete(name, method, benchmark)]
                if measured:
                    of = dict(_means(measured, track.compared, lambda metric, t=track: t.metric(metric).factor))
                    numbers.setdefault(name, {}).setdefault(benchmark, {})[method] = of
    return json.dumps(numbers, indent=2) + "\n"


def _means(measured: list[Any], compared: Any, factor: Any) -> Iterator[tuple[str, float]]:
    for label, metric in compared.items():
        if all(metric in of for of in measured):
            yield label, round(factor(metric) * mean(of[metric] for of in measured), 4)


def readme(results: Results, papers: list[Paper]) -> str:
    """The papers and their artifacts, each a click away."""
    lines = [
        "# Reports",
        "",
        "Written by the workflow; every file is made again by `make reproduce`.",
        "",
        f"- Profile `{results.work.params.profile}`: {_covered(results)}.",
        "- Reported values are what a paper printed, measured values are what runs here gave. They are on "
        "different data sets "
        "unless both stand in one column.",
        *_example(results, papers),
        f"- When, where and on which commit each of them was made, and how long it took: [{MADE}]({MADE}).",
        f"- The numbers that `dvc metrics show` and `dvc metrics diff` compare: [{METRICS}]({METRICS}).",
        f"- Every parameter: [{PARAMETERS}]({PARAMETERS}), and for editors [{SCHEMA}]({SCHEMA}).",
    ]
    for paper in papers:
        lines += _of_paper(results, paper)
    return "\n".join(lines) + "\n"


def _example(results: Results, papers: list[Paper]) -> Iterator[str]:
    """How to ask what is behind a number, of the first one that was measured of a headline."""
    for paper in papers:
        if paper.headline and (measured := build_table(results, paper, paper.headline.artifact).measured):
            cell, file = measured[0], f"{paper.name}/{paper.headline.artifact}"
            yield f'- Which runs made a number: `recompose trace {file} --row "{cell.row}" --column "{cell.column}"`.'
            return


def _covered(results: Results) -> str:
    parts = []
    for name, plan in results.plan.tracks.items():
        seeds = sorted({recipe.labels["seed"] for recipes in plan.evaluations.values() for recipe in recipes})
        benchmarks, methods = (", ".join(f"`{each}`" for each in names) for names in (plan.benchmarks, plan.methods))
        parts.append(f"track `{name}` on {benchmarks}, methods {methods}, seeds {', '.join(map(str, seeds))}")
    return "; ".join(parts)


def _of_paper(results: Results, paper: Paper) -> Iterator[str]:
    notes = f" [Notes on what was ambiguous]({_notes(paper)})" if (FOLDER / paper.name / "notes.md").exists() else ""
    yield from ("", f"## {escape_markdown(paper.title)}", "", f"{paper.authors}, {paper.venue}.{notes}", "")
    for name, artifact in paper.artifacts.items():
        endings = ("svg", "png", "csv") if is_figure(paper, name) else ("md", "csv", "tex")
        links = " ".join(f"[{ending}]({paper.name}/{name}.{ending})" for ending in endings)
        yield f"- **{name}** {escape_markdown(artifact.caption)} {links} [lineage]({paper.name}/{name}.lineage.json)"
    for name, artifact in paper.artifacts.items():
        if is_figure(paper, name):
            yield from ("", f"### {name}", "", f"![{escape_markdown(artifact.caption)}]({paper.name}/{name}.png)")
        elif artifact.kind not in NOT_SHOWN and (table := build_table(results, paper, name)).measured:
            yield from ("", f"### {name}, measured", "", measured_part(table))


def _notes(paper: Paper) -> str:
    return f"../../src/recompose/papers/{paper.name}/notes.md"
