"""The report site: one page that needs nothing but itself."""

import base64
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt

from recompose.files import write_text
from recompose.papers.declaration import Paper
from recompose.provenance.checks.findings import Audit
from recompose.provenance.shown import Shown
from recompose.report.site.document import Site
from recompose.workspace import Workspace

FOLDER = Path(__file__).parent


def write_page(work: Workspace, papers: list[Paper], audit: Audit) -> None:
    """Write ``reports/index.html``."""
    write_text(work.reports / "index.html", page(site_of(work, papers, audit), work.reports))


def site_of(work: Workspace, papers: list[Paper], audit: Audit) -> Site:
    """The site of a workspace's reports, as they stand on disk."""
    return Site(papers, Shown.of(work.reports, papers), audit, work.params)


def page(site: Site, reports: Path) -> str:
    """The page of a site, with the drawings of its figures from the folder of reports; everything in it is escaped."""
    document = site.document()
    for paper in document["papers"]:
        paper["notes_html"] = notes(paper["notes"])
        for artifact in paper["artifacts"]:
            artifact["picture"] = picture(reports / paper["name"] / f"{artifact['name']}.png")
    environment = Environment(loader=FileSystemLoader(FOLDER), autoescape=True, undefined=StrictUndefined)
    return environment.get_template("page.html").render(doc=document, style=_own("style.css"), script=_own("script.js"))


def _own(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def notes(markdown: str) -> str:
    """Notes as HTML; markup in them is shown as text."""
    html: str = MarkdownIt("commonmark", {"html": False}).render(markdown)
    return html.replace("<h1>", "<h3>").replace("</h1>", "</h3>").replace("<h2>", "<h4>").replace("</h2>", "</h4>")


def picture(path: Path) -> str:
    """A bitmap as an address that holds it; empty where there is none."""
    if not path.is_file():
        return ""
    return f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"
