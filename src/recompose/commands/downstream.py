"""`downstream`: the cells, figures and claims of the reports that depend on a stored result."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from rich.console import Console
from rich.tree import Tree

from recompose.console import escape_markup, first
from recompose.errors import DownstreamError
from recompose.papers.declaration import Paper
from recompose.params.mistakes import nearest
from recompose.tables.kinds import kind_of
from recompose.tables.published import PublishedLineage

NAMED = 8  # candidates that an error names


@dataclass(frozen=True)
class ReachedArtifact:
    """An artifact, with those of its cells that depend on a result."""

    paper: str
    artifact: str
    kind: str  # table, figure or claims
    cells: list[dict[str, str]]  # view, row, column and text


@dataclass(frozen=True)
class Origin:
    """A stored result, and what depends on it."""

    key: str
    digest: str
    kind: str
    name: str
    names: list[str]  # the methods or variants of an evaluation
    reaches: list[ReachedArtifact]
    dependents: list["Origin"] = field(default_factory=list)  # made directly from it; theirs are left out

    @property
    def title(self) -> str:
        """Its name, with all other methods or variants that it stands for."""
        also = [name for name in self.names if not self.name.startswith(f"{name} ")]
        return self.name + (f" (also {', '.join(also)})" if also else "")

    @property
    def reach(self) -> str:
        """The number of cells and artifacts that it reaches."""
        cells = sum(len(reached.cells) for reached in self.reaches)
        return f"{cells} cells of {len(self.reaches)} artifacts" if cells else "no cell"


def downstream(published: PublishedLineage, papers: list[Paper], start: str) -> Origin:
    """Return everything downstream of a result.

    Args:
        published: the lineage of the reports.
        papers: the papers whose artifacts are searched.
        start: the first characters of a digest, or of a key such as ``runs/0123``.

    Raises:
        DownstreamError: no record of the reports starts like this, or several do.
    """
    key = _key(published, start)
    dependents = [_origin(published, papers, dependent) for dependent in sorted(published.dependents(key))]
    return _origin(published, papers, key, dependents)


def _key(published: PublishedLineage, start: str) -> str:
    prefix = start.removeprefix("results/").rstrip("/")
    records = published.records
    keys = sorted(key for key in records if any(name.startswith(prefix) for name in _names(published, key)))
    if prefix in keys:
        return prefix
    if not keys:
        message = f"the reports use nothing that starts with '{start}'{nearest(prefix, _all_names(published, prefix))}"
        raise DownstreamError(message, code="unknown-key", place=start)
    if len(keys) > 1:
        message = f"{len(keys)} start with '{start}': {', '.join(first(keys, NAMED))}; add characters"
        raise DownstreamError(message, code="ambiguous-key", place=start)
    return keys[0]


def _names(published: PublishedLineage, key: str) -> tuple[str, ...]:
    """Return what a result may be called: key, folder, digest, or kind and digest."""
    record = published.records[key]
    return key, key.partition("/")[2], record.digest, f"{record.kind}/{record.digest}"


def _all_names(published: PublishedLineage, prefix: str) -> list[str]:
    return [key if "/" in prefix else key.partition("/")[2] for key in sorted(published.records)]


def _origin(
    published: PublishedLineage, papers: Iterable[Paper], key: str, dependents: Iterable[Origin] = ()
) -> Origin:
    record, reach = published.records[key], published.reach(key)
    reaches = [
        ReachedArtifact(
            paper.name,
            name,
            kind_of(paper, name),
            [cell.model_dump(include={"view", "row", "column", "text"}) for cell in reach[f"{paper.name}/{name}"]],
        )
        for paper in papers
        for name in paper.artifacts
        if f"{paper.name}/{name}" in reach
    ]
    return Origin(key, record.digest, record.kind, record.name, published.names(key), reaches, [*dependents])


def show_downstream(console: Console, origin: Origin) -> None:
    """Print the cells that a stored result reaches, as a tree of papers, artifacts and rows."""
    tree = Tree(f"[bold]{escape_markup(origin.key)}[/bold]  {escape_markup(origin.title)} · {origin.reach}")
    tree.add(f"[dim]digest[/dim] {escape_markup(origin.digest)}")
    papers: dict[str, Tree] = {}
    for reached in origin.reaches:
        if reached.paper not in papers:
            papers[reached.paper] = tree.add(f"[bold]{escape_markup(reached.paper)}[/bold]")
        branch = papers[reached.paper].add(f"{escape_markup(reached.artifact)} [dim]{reached.kind}[/dim]")
        rows: dict[str, list[str]] = {}
        for cell in reached.cells:
            row = " ".join(filter(None, (cell["row"], cell["view"] and f"({cell['view']})")))
            rows.setdefault(row, []).append(f"{escape_markup(cell['column'])} [bold]{escape_markup(cell['text'])}[/]")
        for row, texts in rows.items():
            branch.add(f"{escape_markup(row)}: {', '.join(texts)}")
    if origin.dependents:
        branch = tree.add("these were made from it, so what they reach depends on it as well")
        for dependent in origin.dependents:
            branch.add(f"{escape_markup(dependent.key)}  {escape_markup(dependent.title)} · {dependent.reach}")
    console.print(tree)
