"""The index of reports for code hosts, the numbers that DVC compares between experiments, and the build info."""

import json
from collections.abc import Iterable, Iterator, Mapping

from recompose.claims.cells import verdict_counts, verdicts_by_benchmark
from recompose.claims.outcome import reading
from recompose.console import pluralize
from recompose.digest import sha256_file
from recompose.files import write_text
from recompose.papers.declaration import PRINTED, Paper
from recompose.params.reference import json_schema, reference
from recompose.records import Build
from recompose.tables.cells import Cell
from recompose.tables.formats import escape_markdown, measured_part
from recompose.tables.kinds import find_kind, index_recipe, is_figure
from recompose.tables.lineage import INDEX, MADE, VALUES, Made, ReportIndex, values_text
from recompose.tables.published import PublishedLineage
from recompose.tables.stored_results import StoredResults
from recompose.tables.table import build_table
from recompose.tracks import TRACKS
from recompose.tracks.track import function
from recompose.workspace import Workspace

PAGE, README, METRICS = "index.html", "README.md", "metrics.json"
PARAMETERS, SCHEMA = "parameters.md", "params.schema.json"
TOP = "../../.."  # the project's folder, from that of a paper's reports


def index_texts(results: StoredResults, papers: list[Paper], published: PublishedLineage) -> dict[str, str]:
    """Return the files beside the page: name -> text. All of them follow from the results behind the artifacts."""
    return {
        README: readme(results, papers),
        **{f"{paper.name}/{README}": paper_readme(results, paper) for paper in papers},
        METRICS: metrics_json(results, papers),
        VALUES: values_text(values_of(results, published)),
        **{file: function(place)(results) for file, place in plots(results).items()},
        PARAMETERS: reference(TRACKS.forms),
        SCHEMA: json.dumps(json_schema(TRACKS.forms), indent=2) + "\n",
    }


def plots(results: StoredResults) -> dict[str, str]:
    """Return the files for ``dvc plots`` of the profile's tracks: file -> function."""
    return {file: place for name in results.plan.tracks for file, place in TRACKS[name].plots.items()}


def write_index(
    results: StoredResults, papers: list[Paper], published: PublishedLineage, pages: Mapping[str, str]
) -> list[str]:
    """Write the report site's page, the index, the numbers that DVC compares, and the build info.

    Args:
        results: of the workspace.
        papers: with the artifacts of the index.
        published: the lineages in the folders of papers.
        pages: the report site's page, and the files beside it, by name.

    Returns:
        The names of the files.
    """
    reports = results.work.reports
    texts = {**pages, **index_texts(results, papers, published)}
    for name, text in texts.items():
        write_text(reports / name, text)
    written = {name: sha256_file(reports / name) for name in texts}
    recipe = index_recipe(results.work, papers).digest
    ReportIndex(files=written, recipe=recipe).write(reports)
    builds, values = builds_of(results.work, published), values_of(results, published)
    Made.of(builds, published.contents, values).write(reports)
    return [*texts, INDEX, MADE]


def builds_of(work: Workspace, published: PublishedLineage) -> dict[str, Build]:
    """Return when, where and from which sources everything behind the artifacts was built, and with which content.

    Entries of folders that are not on this disk come from the present file.
    """
    recipes = work.plan.by_key
    builds = {}
    for key in sorted(published.records):
        recipe = recipes.get(key)
        if recipe and work.store.is_complete(recipe):
            builds[key] = work.store.record(recipe).build
        elif key in published.made:
            builds[key] = published.made[key]
    return builds


def values_of(results: StoredResults, published: PublishedLineage) -> dict[str, Mapping[str, float]]:
    """Return the metrics of each evaluation behind the artifacts; of those that are not on this disk, the present ones.

    With them, a clone without results can follow every number.
    """
    values: dict[str, Mapping[str, float]] = {}
    for key in published.records:
        recipe = results.work.plan.by_key.get(key)
        if recipe and recipe.kind == "evaluations" and results.is_complete(recipe):
            values[key] = results.metrics(recipe)
        elif key in published.values:
            values[key] = published.values[key]
    return values


def metrics_json(results: StoredResults, papers: list[Paper]) -> str:
    """Return the headline numbers as JSON, as the headline tables show them.

    A number for each paper, of its own method, and one for each track: the best of the methods in these tables that are
    no paper's own. DVC shows the numbers, and leaves out the list ``details`` with their spreads and n.
    """
    numbers: dict[str, Cell] = {}
    for paper in papers:
        if paper.headline:
            cells = _headline_cells(build_table(results, paper, paper.headline.artifact).measured, paper)
            if own := cells.pop(paper.headline.method, None):
                numbers[paper.name] = own
            rest, own_methods = f"{paper.track}*", {other.headline.method for other in papers if other.headline}
            others = {*results.plan.tracks[paper.track].methods} - own_methods
            candidates = [cell for method, cell in cells.items() if method in others]
            if candidates := [*candidates, *filter(None, [numbers.get(rest)])]:
                numbers[rest] = max(candidates, key=lambda cell: cell.better * (cell.value or 0))
    details = [_details(name, cell) for name, cell in sorted(numbers.items())]
    shown = {name: round(cell.value or 0.0, 2) for name, cell in sorted(numbers.items())}
    return json.dumps({**shown, "details": details}, indent=2) + "\n"


def _headline_cells(cells: Iterable[Cell], paper: Paper) -> dict[str, Cell]:
    """Return the cells of the track's headline metric on the first benchmark, in the first view: method -> cell."""
    cells = [cell for cell in cells if cell.metric == TRACKS[paper.track].headline and cell.n and not cell.part]
    return {
        cell.names[0]: cell
        for cell in reversed(cells)  # the first of a method counts
        if len(cell.names) == 1 and (cell.view, cell.benchmark) == (cells[0].view, cells[0].benchmark)
    }


def _details(name: str, cell: Cell) -> dict[str, str | float | None]:
    """Return a number of the metrics with what it is the number of."""
    mean, spread = (value if value is None else round(value, 4) for value in (cell.value, cell.spread))
    about: dict[str, str | float | None] = {"name": name, "method": cell.names[0], "benchmark": cell.benchmark}
    return {**about, "metric": cell.metric, "mean": mean, "spread": spread, "n": cell.n}


def readme(results: StoredResults, papers: list[Paper]) -> str:
    """Return the index of the papers' reports: a screen, with a line for each paper."""
    lines = [
        "# Reports",
        "",
        f"Written by the workflow for profile `{results.work.params.profile}`; `make reproduce` rebuilds every file.",
        "",
        "| paper | printed tables and figures | verdicts on claims |",
        "| --- | ---: | --- |",
        *(_paper_row(results, paper) for paper in papers),
        "",
        f"- Measured here: {_scope(results)}.",
        "- Reported values are printed in a paper; measured values come from runs here. They are on different "
        "data sets unless they share a column.",
        "- A verdict on synthetic data does not generalise to the paper's data, and does not refute the paper.",
        f"- All of it as one page: [{PAGE}]({PAGE}), to open in a browser.",
        *_trace_example(results, papers),
        f"- Time, host, commit and duration of everything behind the reports: [{MADE}]({MADE}).",
        f"- The headline numbers, which `dvc metrics diff` compares: [{METRICS}]({METRICS}).",
        f"- Every parameter: [{PARAMETERS}]({PARAMETERS}), and for editors [{SCHEMA}]({SCHEMA}).",
    ]
    return "\n".join(lines) + "\n"


def _paper_row(results: StoredResults, paper: Paper) -> str:
    """Return the line of a paper in the index."""
    printed = sum(PRINTED.fullmatch(name) is not None for name in paper.artifacts)
    claims = paper.claims_tables
    verdicts = [text for name in claims for text in _verdict_texts(results, paper, name)]
    links = "".join(f", [{name}]({paper.name}/{name}.md)" for name in claims)
    title = f"[{escape_markdown(paper.title)}]({paper.name}/{README})"
    return f"| **{paper.name}**: {title} | {printed} | {'; '.join(verdicts) or 'none tested'}{links} |"


def _verdict_texts(results: StoredResults, paper: Paper, name: str) -> Iterator[str]:
    """Yield the number of verdicts of each kind, for each benchmark."""
    for benchmark, cells in verdicts_by_benchmark(build_table(results, paper, name).measured).items():
        is_synthetic = TRACKS[paper.track].is_synthetic(results.data(paper.track, benchmark))
        counts = verdict_counts(cells)
        yield ", ".join(f"{count} {reading(verdict, is_synthetic)}" for verdict, count in counts.items() if count)


def _trace_example(results: StoredResults, papers: list[Paper]) -> Iterator[str]:
    """Yield a line that shows how to trace a number: the first measured one of a headline, if there is any."""
    for paper in papers:
        if paper.headline and (measured := build_table(results, paper, paper.headline.artifact).measured):
            cell, file = measured[0], f"{paper.name}/{paper.headline.artifact}"
            command = f'recompose trace {file} --row "{cell.row}" --column "{cell.column}"'
            yield f"- To trace a number to its runs: `{command}`."
            return


def _scope(results: StoredResults) -> str:
    """Return the benchmarks, and the numbers of methods and seeds of each track, in words."""
    parts = []
    for track, plan in results.plan.tracks.items():
        seeds = {recipe.labels["seed"] for recipes in plan.evaluations.values() for recipe in recipes}
        benchmarks = ", ".join(f"`{name}`" for name in plan.benchmarks)
        parts.append(f"{len(plan.methods)} methods of `{track}` on {benchmarks} with {pluralize(len(seeds), 'seed')}")
    return "; ".join(parts)


def paper_readme(results: StoredResults, paper: Paper) -> str:
    """Return the README of a paper's reports."""
    notes = f" [Notes on ambiguities]({TOP}/src/recompose/papers/{paper.name}/notes.md)" if _has_notes(paper) else ""
    byline = f"{escape_markdown(paper.byline)}." if paper.byline else ""
    links = "".join(f" [{escape_markdown(name)}]({address})" for name, address in paper.links.items())
    lines = [
        f"# {escape_markdown(paper.title)}",
        "",
        f"{byline}{links}{notes} [All papers](../README.md)".strip(),
        "",
        *(_artifact_line(paper, name) for name in paper.artifacts),
        *_sections(results, paper),
    ]
    return "\n".join(lines) + "\n"


def _has_notes(paper: Paper) -> bool:
    return paper.is_shipped and (paper.folder / "notes.md").exists()


def _artifact_line(paper: Paper, name: str) -> str:
    endings = ("svg", "png", "csv") if is_figure(paper, name) else ("md", "csv", "tex")
    links = " ".join(f"[{ending}]({name}.{ending})" for ending in endings)
    caption = escape_markdown(paper.artifacts[name].caption)
    return f"- **{name}** {caption} {links} [lineage]({name}.lineage.json)"


def _sections(results: StoredResults, paper: Paper) -> Iterator[str]:
    """Yield the lines of every figure, and of every table with measured values."""
    for name, artifact in paper.artifacts.items():
        if is_figure(paper, name):
            yield from ("", f"## {name}", "", f"![{escape_markdown(artifact.caption)}]({name}.png)")
        elif find_kind(paper, name).is_summed_up and (table := build_table(results, paper, name)).measured:
            yield from ("", f"## {name}, measured", "", measured_part(table))
