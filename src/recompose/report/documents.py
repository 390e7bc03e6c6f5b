"""Marked blocks of README.md and docs/: measured numbers and generated tables, filled from reports and code.

A number stands between ``<!-- number: ARTIFACT "ROW" "COLUMN" [VIEW] -->`` and ``<!-- /number -->``, a table between
``<!-- generated: NAME -->`` and ``<!-- /generated -->``. Fenced code blocks are left alone.
"""

import csv
import re
import shlex
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, TypeVar

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from recompose.errors import TraceError
from recompose.exhibits.metric import Metric
from recompose.files import write_text
from recompose.papers.declaration import Paper
from recompose.params.mistakes import nearest
from recompose.params.reference import section_reference
from recompose.plugins import Declaration
from recompose.report.kinds import kind_of
from recompose.tracks.track import COSTS, Track

BLOCK = re.compile(r"<!-- (number|generated): (.*?) -->(.*?)<!-- /\1 -->", re.DOTALL)
FENCE = re.compile(r"(^```.*?^```[ ]*$)", re.DOTALL | re.MULTILINE)
WIDTH = 120
T = TypeVar("T")
Pattern: TypeAlias = tuple[tuple[str, ...], ...]  # the parts of names, each with its alternatives
BETTER = {1: "higher", -1: "lower", 0: "neither"}


@dataclass(frozen=True)
class OutdatedBlock:
    """A marked block whose text is not what the reports or the code give."""

    file: Path
    block: str
    reason: str

    def __str__(self) -> str:
        return f"{self.file}: {self.block}: {self.reason}"


@dataclass(frozen=True)
class Sources:
    """The content of marked blocks: the folder of a profile's reports, and generated tables by name."""

    reports: Path
    tables: Mapping[str, str] = field(default_factory=dict)

    def content(self, kind: str, argument: str) -> str:
        """Return the text that belongs into a block.

        Raises:
            TraceError: the reports have no such number, or there is no such table.
        """
        if kind == "number":
            return measured_text(self.reports, *_number_place(argument))
        if argument not in self.tables:
            message = f"there is no generated table {argument!r}{nearest(argument, self.tables)}"
            raise TraceError(message, code="unknown-table", place=argument)
        return f"\n{self.tables[argument].strip()}\n"


def measured_text(reports: Path, artifact: str, row: str, column: str, view: str | None = None) -> str:
    """Return a measured number as its table prints it; without a view, of the first one that has it.

    Raises:
        TraceError: there is no such artifact, row, column or view.
    """
    path = reports / f"{artifact}.csv"
    if not path.is_file():
        raise TraceError(f"{path} does not exist", code="missing-file", place=path)
    with path.open(newline="", encoding="utf-8") as file:
        cells = [cell for cell in csv.DictReader(file) if cell["source"] == "measured"]
    for cell in cells:
        if (cell["row"], cell["column"]) == (row, column) and view in (None, cell["view"]):
            return cell["text"]
    known = {name: [cell[name] for cell in cells] for name in ("row", "column", "view")}
    for name, value in (("row", row), ("column", column), ("view", view)):
        if value is not None and value not in known[name]:
            message = f"{path} has no measured {name} {value!r}{nearest(value, set(known[name]))}"
            raise TraceError(message, code=f"unknown-{name}", place=path)
    raise TraceError(f"{path} has no measured value of {row!r} in {column!r}", code="missing-cell", place=path)


def fill(text: str, sources: Sources) -> str:
    """Return a document with the current content in its marked blocks.

    Raises:
        TraceError: the content of a block does not exist.
    """

    def filled(block: re.Match[str]) -> str:
        kind, argument, _ = block.groups()
        return f"<!-- {kind}: {argument} -->{sources.content(kind, argument)}<!-- /{kind} -->"

    parts = FENCE.split(text)  # every other part is a fenced block
    return "".join(part if index % 2 else BLOCK.sub(filled, part) for index, part in enumerate(parts))


def differences(file: Path, text: str, sources: Sources) -> Iterator[OutdatedBlock]:
    """Yield the marked blocks of a document whose text is not current, or whose content does not exist."""
    for part in FENCE.split(text)[::2]:
        for kind, argument, written in BLOCK.findall(part):
            block = f"{kind} {argument}"
            try:
                content = sources.content(kind, argument)
            except TraceError as error:
                yield OutdatedBlock(file, block, str(error))
                continue
            if content != written and kind == "number":
                yield OutdatedBlock(file, block, f"it says {written}, the reports say {content}")
            elif content != written:
                yield OutdatedBlock(file, block, "it is not as generated now")


def documents(root: Path) -> list[Path]:
    """Return README.md and the pages of docs/, relative to the project's folder."""
    pages = sorted((root / "docs").rglob("*.md"))
    return [path.relative_to(root) for path in (root / "README.md", *pages) if path.is_file()]


def write_documents(root: Path, sources: Sources) -> list[Path]:
    """Fill the marked blocks of all documents, and return the files that changed.

    Raises:
        TraceError: the content of a block does not exist; no file is written then.
    """
    texts = {path: (root / path).read_text(encoding="utf-8") for path in documents(root)}
    filled = {path: fill(text, sources) for path, text in texts.items()}
    changed = [path for path, text in texts.items() if filled[path] != text]
    for path in changed:
        write_text(root / path, filled[path])
    return changed


def differing_blocks(root: Path, sources: Sources) -> list[OutdatedBlock]:
    """Return the marked blocks of all documents that are not current."""
    return [
        difference
        for path in documents(root)
        for difference in differences(path, (root / path).read_text(encoding="utf-8"), sources)
    ]


def generated_tables(
    papers: Iterable[Paper],
    tracks: Iterable[Track],
    app: typer.Typer,
    reports: Path,
    place: str,
) -> dict[str, str]:
    """Return the generated tables of the documents, by name.

    Args:
        papers: the papers of the profile whose reports are shown.
        tracks: the tracks whose metrics are listed.
        app: the command line, which this module cannot import.
        reports: the folder of the profile's reports.
        place: the same as README.md links to it, such as ``reports/demo``.
    """
    papers = list(papers)
    return {
        "papers": papers_table(papers, reports, place),
        "flags": flags_table(papers),
        "commands": commands_reference(app),
        **{f"metrics-{track.name}": metrics_table(_metrics_of(track)) for track in tracks},
        "metrics-cost": metrics_table(COSTS),
        "plugin": section_reference(Declaration, "`plugin.yaml`"),
    }


def papers_table(papers: Iterable[Paper], reports: Path, place: str) -> str:
    """Return a table of this package's papers with their artifacts, claims and verdicts, and links into the reports."""
    rows = [
        f"| paper | tables | figures | claims | verdicts in the {reports.name} | start at |",
        "| --- | ---: | ---: | ---: | --- | --- |",
    ]
    for paper in (paper for paper in papers if paper.is_shipped):
        kinds = Counter(kind_of(paper, name) for name in paper.artifacts)
        start = paper.headline.artifact if paper.headline else next(iter(paper.artifacts))
        counts = Counter(_verdicts_in(reports / paper.name / "claims.csv")).most_common()
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in counts)
        link = f", [{_cell(paper.venue or 'notes')}](src/recompose/papers/{paper.name}/notes.md)"
        notes = link if (paper.folder / "notes.md").exists() else ""
        links = ", ".join(
            f"[{name}]({place}/{paper.name}/{name}.md)" for name in (start, "claims") if name in paper.artifacts
        )
        rows.append(
            f"| **{paper.name}**: {_cell(paper.title)}{notes} | {kinds['table']} | {kinds['figure']} | "
            f"{len(paper.claims)} | {verdicts or 'not measured'} | {links} |"
        )
    return "\n".join(rows)


def _verdicts_in(file: Path) -> Iterator[str]:
    """Yield the verdicts on claims in a file of them, of all data sets together; none if the file is not there."""
    if file.is_file():
        with file.open(newline="", encoding="utf-8") as lines:
            for cell in csv.DictReader(lines):
                if cell["column"].endswith(" verdict"):
                    yield cell["text"].partition(" (")[0]


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
        shown = [parameter for parameter in parameters if not parameter.hidden]
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


def _number_place(argument: str) -> list[str]:
    """Return artifact, row, column and, where it is given, the view of a number block.

    Raises:
        TraceError: the block names no place.
    """
    try:
        place = shlex.split(argument)
    except ValueError:
        place = []
    if len(place) not in (3, 4):
        message = f'a number block names ARTIFACT "ROW" "COLUMN" [VIEW], not: {argument}'
        raise TraceError(message, code="no-place", place=argument)
    return place


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
