"""The README of a paper's reports, for code hosts: its artifacts, with the measured tables and the figures."""

from collections.abc import Iterator

from recompose.papers.declaration import Paper
from recompose.tables.formats import escape_markdown, measured_part
from recompose.tables.kinds import find_kind, is_figure
from recompose.tables.stored_results import StoredResults
from recompose.tables.table import build_table

TOP = "../../.."  # the project's folder, from that of a paper's reports


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
