"""A check of the index of the reports, and of the numbers beside it, against the artifacts' evaluations."""

from collections.abc import Callable, Iterator, Mapping

from recompose.audit.findings import UNCHECKED, Audit, Finding
from recompose.digest import sha256_file
from recompose.errors import DamagedError, LineageError
from recompose.papers.declaration import Paper
from recompose.tables.index import index_texts
from recompose.tables.lineage import INDEX, MADE, ReportIndex
from recompose.tables.published import PublishedLineage
from recompose.tables.stored_results import StoredResults
from recompose.workspace import Workspace

Pages = Callable[[Audit], Mapping[str, str]]  # the texts of the page and the files beside it, which show an audit


def check_index(
    work: Workspace, papers: list[Paper], published: PublishedLineage, audited: Audit, pages: Pages
) -> Iterator[Finding]:
    """Check the page, the index and the numbers beside it against what was written, and what would be written now."""
    try:
        written = ReportIndex.read(work.reports).files
    except FileNotFoundError:
        yield Finding.of("missing-file", f"{work.reports_place}/{INDEX}", "is missing")
        return
    except LineageError as error:
        yield Finding.of("unreadable", f"{work.reports_place}/{INDEX}", str(error))
        return
    if not (work.reports / MADE).is_file():
        yield Finding.of("missing-file", f"{work.reports_place}/{MADE}", "is missing")
    elif published.records and not published.made:
        yield Finding.of("unreadable", f"{work.reports_place}/{MADE}", "cannot be read")
    due: dict[str, str] = {}
    if not all(recipe.key in audited.numbers for recipe in work.plan.of("evaluations")):
        yield Finding.of(UNCHECKED, "the index", "it needs evaluations that are missing or not valid")
    else:
        try:
            due = index_texts(StoredResults(work, audited.numbers, published.made), papers, published)
        except DamagedError as error:
            yield Finding.of(UNCHECKED, "the index", str(error))
    # the page shows builds, and the audit before it was written, which may differ from this one
    if due and published.made and not audited.everything:
        due |= pages(audited)
    for name in dict.fromkeys([*written, *due]):
        path, place = work.reports / name, f"{work.reports_place}/{name}"
        if not path.is_file():
            yield Finding.of("missing-file", place, "is missing")
        elif sha256_file(path) != written.get(name):
            yield Finding.of("changed-file", place, "was changed since it was written")
        elif name in due and path.read_text(encoding="utf-8") != due[name]:
            why = "artifacts, parameters, or the code that writes it, changed since"
            yield Finding.of("other-text", place, why)
