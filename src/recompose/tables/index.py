"""The index of reports for code hosts, and the numbers that DVC compares between experiments."""

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from recompose.claims.cells import verdict_counts, verdicts_by_benchmark
from recompose.claims.outcome import reading
from recompose.console import pluralize
from recompose.papers.declaration import PRINTED, Paper
from recompose.params.reference import json_schema, reference
from recompose.parts.cells import Cell
from recompose.tables.artifacts import build_table
from recompose.tables.formats import escape_markdown, measured_part
from recompose.tables.kinds import find_kind, is_figure
from recompose.tables.published import headline_cells
from recompose.tables.stored_results import StoredResults

PAGE, README, METRICS = "index.html", "README.md", "metrics.json"
PARAMETERS, SCHEMA = "parameters.md", "params.schema.json"
TEMPLATES = Environment(loader=FileSystemLoader(Path(__file__).parent), trim_blocks=True, keep_trailing_newline=True)
TEMPLATES.filters["markdown"] = escape_markdown
TEMPLATES.tests["printed"] = PRINTED.fullmatch


def index_texts(results: StoredResults) -> dict[str, str]:
    """Return the files beside the page: name -> text. All of them follow from the results behind the artifacts."""
    schema = json_schema(results.work.catalogue.forms)
    return {
        README: readme(results),
        **{f"{paper.name}/{README}": paper_readme(results, paper) for paper in results.work.papers},
        METRICS: metrics_json(results),
        **{file: text for track in results.plan.tracks for file, text in results.tracks[track].plots(results).items()},
        PARAMETERS: reference(schema),
        SCHEMA: json.dumps(schema, indent=2) + "\n",
    }


def metrics_json(results: StoredResults) -> str:
    """Return the headline numbers as JSON, as the headline tables show them.

    A number for each paper, of its own method, and one for each track: the best of the methods in these tables that are
    no paper's own. DVC shows the numbers, and leaves out the list ``details`` with their spreads and n.
    """
    numbers: dict[str, Cell] = {}
    own_methods = {paper.headline.method for paper in results.work.papers if paper.headline}
    for paper in results.work.papers:
        if paper.headline:
            cells = headline_cells(paper, build_table(results, paper, paper.headline.artifact).measured)
            if headline := cells.pop(paper.headline.method, None):
                numbers[paper.name] = headline
            best, others = f"{paper.track}*", {*results.plan.tracks[paper.track].methods} - own_methods
            candidates = [cell for method, cell in cells.items() if method in others]
            if candidates := [*candidates, *filter(None, [numbers.get(best)])]:
                numbers[best] = max(candidates, key=lambda cell: cell.better * (cell.value or 0))
    details = [_details(name, cell) for name, cell in sorted(numbers.items())]
    headlines = {name: round(cell.value or 0.0, 2) for name, cell in sorted(numbers.items())}
    return json.dumps({**headlines, "details": details}, indent=2) + "\n"


def _details(name: str, cell: Cell) -> dict[str, str | float | None]:
    """Return a number of the metrics with what it is the number of."""
    mean, spread = (value if value is None else round(value, 4) for value in (cell.value, cell.spread))
    about: dict[str, str | float | None] = {"name": name, "method": cell.names[0], "benchmark": cell.benchmark}
    return {**about, "metric": cell.metric, "mean": mean, "spread": spread, "n": cell.n}


def readme(results: StoredResults) -> str:
    """Return the index of the papers' reports: a screen, with a line for each paper."""
    papers = results.work.papers
    headlines = ((paper, paper.headline.artifact) for paper in papers if paper.headline)
    tables = ((f"{paper.name}/{name}", build_table(results, paper, name).measured) for paper, name in headlines)
    return TEMPLATES.get_template("reports.md").render(
        profile=results.work.params.profile,
        papers=papers,
        verdicts={paper.name: list(_verdict_texts(results, paper)) for paper in papers},
        scope=_scope(results),
        traced=list(islice(((table, cells[0]) for table, cells in tables if cells), 1)),
    )


def _verdict_texts(results: StoredResults, paper: Paper) -> Iterator[str]:
    """Yield the number of verdicts of each kind, for each table of claims and benchmark."""
    for name in paper.claims_tables:
        by_benchmark = verdicts_by_benchmark(build_table(results, paper, name).measured)
        for benchmark, cells in by_benchmark.items():
            is_synthetic = results.tracks[paper.track].is_synthetic(results.data(paper.track, benchmark))
            counts = verdict_counts(cells)
            yield ", ".join(f"{count} {reading(verdict, is_synthetic)}" for verdict, count in counts.items() if count)
        not_run = paper.claims.keys() - {cell.row for cells in by_benchmark.values() for cell in cells}
        if by_benchmark and not_run:
            yield f"{len(not_run)} not run"


def _scope(results: StoredResults) -> str:
    """Return the benchmarks, and the numbers of methods and seeds of each track, in words."""
    parts = []
    for track, plan in results.plan.tracks.items():
        seeds = {recipe.labels["seed"] for recipes in plan.evaluations.values() for recipe in recipes}
        benchmarks = ", ".join(f"`{name}`" for name in plan.benchmarks)
        parts.append(f"{len(plan.methods)} methods of `{track}` on {benchmarks} with {pluralize(len(seeds), 'seed')}")
    return "; ".join(parts)


def paper_readme(results: StoredResults, paper: Paper) -> str:
    """Return the README of a paper's reports: its files, every figure, and every table with measured values."""
    drawn, parts = [name for name in paper.artifacts if is_figure(paper, name)], dict[str, str]()
    for name, artifact in paper.artifacts.items():
        if name in drawn:
            parts[name] = f"![{escape_markdown(artifact.caption)}]({name}.png)"
        elif find_kind(paper, name).is_summed_up and (table := build_table(results, paper, name)).measured:
            parts[f"{name}, measured"] = measured_part(table)
    has_notes = paper.is_shipped and (paper.folder / "notes.md").exists()
    template = TEMPLATES.get_template("paper.md")
    return template.render(paper=paper, has_notes=has_notes, drawn=drawn, parts=parts)
