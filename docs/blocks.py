"""The generated parts of README.md and the pages of docs/: numbers and tables, from reports and code.

`make docs` lets cog fill the blocks, which call the functions of this module. A test fails where one is not current.
"""

import csv
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias, TypeVar

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from recompose.main import app
from recompose.papers.declaration import PRINTED, Paper, all_papers
from recompose.params.reference import section_reference
from recompose.tables.kinds import is_figure
from recompose.tables.metric import Metric
from recompose.tracks import TRACKS
from recompose.tracks.plugins import Declaration
from recompose.tracks.track import COSTS, Track

REPORTS, STUDY, LONG = Path("reports/demo"), Path("reports/study"), Path("reports/study-long")
WIDTH = 120
T = TypeVar("T")
Pattern: TypeAlias = tuple[tuple[str, ...], ...]  # the parts of names, each with its alternatives
BETTER = {1: "higher", -1: "lower", 0: "neither"}


def papers() -> str:
    return papers_table(all_papers())


def flags() -> str:
    return flags_table(all_papers())


def commands() -> str:
    return commands_reference(app)


def metrics(track: str) -> str:
    return metrics_table(_metrics_of(TRACKS[track]))


def costs() -> str:
    return metrics_table(COSTS)


def plugin() -> str:
    return section_reference(Declaration.model_json_schema(), "`plugin.yaml`").strip()


def number(artifact: str, row: str, column: str, view: str = "", reports: Path | None = None) -> str:
    """Return a measured number as its table prints it, of the demo or other reports; of the first view without one.

    Raises:
        LookupError: the artifact has no such number.
    """
    path = (reports or REPORTS) / f"{artifact}.csv"
    with path.open(newline="", encoding="utf-8") as file:
        for cell in csv.DictReader(file):
            place = cell["source"], cell["row"], cell["column"]
            if place == ("measured", row, column) and view in ("", cell["view"]):
                return cell["text"]
    raise LookupError(f"{path} has no measured {row!r} in {column!r} {view}")


def methods_of_pairs(*methods: str) -> str:
    """Return a table of methods of state-object pairs: AUC in two worlds, and states and objects that are right."""
    rows = [
        "| method | closed world | open world, without feasibility | state right | object right |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for method in methods:
        own = method == "Duplex"
        name, tables = (f"{method}(ours)", "duplex/table-{}") if own else (method, "msci/table-{}")
        closed, opened = (tables.format(count) for count in ((3, 4) if own else (2, 3)))
        numbers = [number(closed, name, "shapes-pairs AUC"), number(opened, name, "shapes-pairs AUC", "all-pairs")]
        numbers += [number("msci/factors", method, f"shapes-pairs {part}") for part in ("state", "object")]
        rows.append(f"| {method} | {' | '.join(numbers)} |")
    return "\n".join(rows)


def papers_table(papers: Iterable[Paper], study: Path = STUDY) -> str:
    """Return a table of this package's papers: what they print, claims, verdicts, and links into the reports."""
    rows = [
        "| paper | tables | figures | claims | verdicts in the [study](#profiles) | start at |",
        "| --- | ---: | ---: | ---: | --- | --- |",
    ]
    for paper in (paper for paper in papers if paper.is_shipped):
        printed = [name for name in paper.artifacts if PRINTED.fullmatch(name)]
        figures = sum(is_figure(paper, name) for name in printed)
        tables = len(printed) - figures
        start = paper.headline.artifact if paper.headline else next(iter(paper.artifacts))
        counts = Counter(_verdicts_in(study / paper.name / "claims.csv")).most_common()
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts)
        link = f", [{_cell(paper.venue or 'notes')}](src/recompose/papers/{paper.name}/notes.md)"
        notes = link if (paper.folder / "notes.md").exists() else ""
        links = ", ".join(
            f"[{name}]({reports.as_posix()}/{paper.name}/{name}.md)"
            for reports, name in ((REPORTS, start), (STUDY, "claims"))
            if name in paper.artifacts
        )
        rows.append(
            f"| **{paper.name}**: {_title(paper)}{notes} | {tables} | {figures} | "
            f"{len(paper.claims)} | {verdicts or 'not measured'} | {links} |"
        )
    return "\n".join(rows)


def verdicts() -> str:
    """Return a table of the verdicts of the study, by paper, and their sums."""
    words = ("supported", "reversed", "negligible", "undecided")
    rows = [f"| paper | {' | '.join(words)} |", f"| --- |{' ---: |' * len(words)}"]
    total: Counter[str] = Counter()
    for paper in (paper for paper in all_papers() if paper.is_shipped):
        counts = Counter(_verdicts_in(STUDY / paper.name / "claims.csv"))
        total += counts
        rows.append(f"| {paper.name} | {' | '.join(str(counts[word]) for word in words)} |")
    return "\n".join([*rows, f"| all | {' | '.join(str(total[word]) for word in words)} |"])


def verdicts_by_budget(first: Path = STUDY, second: Path = LONG) -> str:
    """Return how many claims have the same verdict in two profiles, and a table of those that have another one.

    Only claims that both test at several replicates count. A claim stands with the comparison that decides it.
    """
    differing, equal = list[str](), 0
    for paper in (paper for paper in all_papers() if paper.is_shipped):
        before, after = (tested_claims(reports / paper.name / "claims.csv") for reports in (first, second))
        for place in (place for place in before if place in after):
            if before[place]["verdict"].split()[0] == after[place]["verdict"].split()[0]:
                equal += 1
            else:
                texts = (
                    f"{cells['verdict'].split()[0]}: {cells['estimate'].rpartition(' = ')[2]}, {cells['95 % interval']}"
                    for cells in (before[place], after[place])
                )
                differing.append(f"| {paper.name} | {place[0]} | {' | '.join(map(_cell, texts))} |")
    tested = equal + len(differing)
    names = " | ".join(f"`{reports.name}`" for reports in (first, second))
    head = [f"Of {tested} claims that both test, {equal} have the same verdict. The others:", ""]
    return "\n".join([*head, f"| paper | claim | {names} |", "| --- | --- | --- | --- |", *differing])


def tested_claims(file: Path) -> dict[tuple[str, str], dict[str, str]]:
    """Return the parts of each tested claim on each data set, such as its verdict, as a table of claims shows them."""
    claims: dict[tuple[str, str], dict[str, str]] = {}
    with file.open(newline="", encoding="utf-8") as lines:
        for cell in csv.DictReader(lines):
            if cell["source"] == "measured":
                dataset, _, part = cell["column"].partition(" ")
                claims.setdefault((cell["row"], dataset), {})[part] = cell["text"]
    return {place: parts for place, parts in claims.items() if parts.get("adjusted p", "-") != "-"}


def _title(paper: Paper) -> str:
    """Return the title of a paper, which links to the first place where it is published."""
    address = next(iter(paper.links.values()), None)
    return f"[{_cell(paper.title)}]({address})" if address else _cell(paper.title)


def _verdicts_in(file: Path) -> Iterator[str]:
    """Yield the verdicts on claims in a file of them, each a word, of all data sets; none if the file is not there."""
    if file.is_file():
        with file.open(newline="", encoding="utf-8") as lines:
            for cell in csv.DictReader(lines):
                if cell["column"].endswith(" verdict"):
                    yield cell["text"].split()[0]


def flags_table(papers: Iterable[Paper]) -> str:
    """Return a table of the printed values of this package's papers that are wrong, or differ from what is printed
    elsewhere.
    """
    rows = ["| artifact | row | column | printed | flag |", "| --- | --- | --- | --- | --- |"]
    for paper in (paper for paper in papers if paper.is_shipped):
        for name, artifact in paper.artifacts.items():
            printed = {row["row"]: row for row in paper.reported(name)} if artifact.flags else {}
            rows += [
                f"| {paper.name}/{name} | {_cell(flag.row)} | {_cell(flag.column)} | "
                f"{_cell(printed[flag.row][flag.column])} | {_cell(flag.text)} |"
                for flag in artifact.flags
            ]
    return "\n".join(rows)


def commands_reference(app: typer.Typer) -> str:
    """Return a section for each command, with its arguments and options."""
    return "\n\n".join(_command_sections(typer.main.get_command(app), "recompose"))


def _command_sections(command: object, path: str) -> Iterator[str]:
    if isinstance(command, TyperGroup):
        for name, inner in sorted(command.commands.items()):
            if not inner.hidden:
                yield from _command_sections(inner, f"{path} {name}")
    elif isinstance(command, TyperCommand):
        parameters = [each for each in command.params if isinstance(each, TyperArgument | TyperOption)]
        shown = [parameter for parameter in parameters if not parameter.hidden and "--project" not in parameter.opts]
        arguments = [_parameter_name(parameter) for parameter in shown if isinstance(parameter, TyperArgument)]
        text = textwrap.fill(" ".join((command.help or "").split()), WIDTH, break_on_hyphens=False)
        lines = [f"## `{' '.join([path, *arguments])}`", "", text]
        if shown:
            lines += ["", "| argument or option | meaning |", "| --- | --- |", *map(_parameter_row, shown)]
        yield "\n".join(lines)


def _parameter_name(parameter: TyperArgument | TyperOption) -> str:
    if isinstance(parameter, TyperOption):
        return ", ".join(parameter.opts)
    name = str(parameter.name).upper() + ("..." if parameter.nargs != 1 else "")
    return name if parameter.required else f"[{name}]"


def _parameter_row(parameter: TyperArgument | TyperOption) -> str:
    required = " Required." if parameter.required else ""
    default = "" if parameter.default in (None, False, ()) else f" Default: `{parameter.default}`."
    return f"| `{_parameter_name(parameter)}` | {_cell(parameter.help or '')}{required}{default} |"


def _metrics_of(track: Track) -> dict[str, Metric]:
    return {name: track.description_of(name) for name in track.metric_names()}


def metrics_table(metrics: Mapping[str, Metric]) -> str:
    """Return a table of metrics by name; names that differ in one part alone share a row."""
    rows = ["| name | unit | better |", "| --- | --- | --- |"]
    for pattern, metric in joined_names(metrics):
        rows.append(f"| `{pattern}` | {metric.unit or 'none'} | {BETTER[metric.better]} |")
    return "\n".join(rows)


def joined_names(named: Mapping[str, T]) -> Iterator[tuple[str, T]]:
    """Yield patterns that stand for all names, each with the value that its names share.

    Example:
        >>> [pattern for pattern, _ in joined_names({"val/a": 1, "val/b": 1, "test/a": 1, "test/b": 1, "test/c": 2})]
        ['{val,test}/{a,b}', 'test/c']
    """
    rows: list[tuple[Pattern, T]] = [
        (tuple((part,) for part in name.split("/")), value) for name, value in named.items()
    ]
    for position in reversed(range(max((len(pattern) for pattern, _ in rows), default=0))):
        groups: dict[tuple[Pattern, Pattern, int, T], list[Pattern]] = {}
        for pattern, value in rows:
            groups.setdefault((pattern[:position], pattern[position + 1 :], len(pattern), value), []).append(pattern)
        rows = [
            ((*before, *_options(patterns, position), *after), value)
            for (before, after, _, value), patterns in groups.items()
        ]
    for pattern, value in rows:
        yield "/".join(part[0] if len(part) == 1 else f"{{{','.join(part)}}}" for part in pattern), value


def _options(patterns: Iterable[Pattern], position: int) -> Pattern:
    """Return the alternatives of patterns at a position, as one part; nothing where they end before it."""
    parts = [pattern[position] for pattern in patterns if position < len(pattern)]
    return (tuple(dict.fromkeys(alternative for part in parts for alternative in part)),) if parts else ()


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
