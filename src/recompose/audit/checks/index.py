"""A check of the index of the reports, and of the numbers beside it, against the artifacts' evaluations."""

from collections.abc import Callable, Mapping

from recompose.audit.checks.recorded import Audited
from recompose.audit.findings import Audit, AuditReport, Finding
from recompose.digest import sha256_file
from recompose.errors import DamagedError, LineageError
from recompose.papers.declaration import Paper
from recompose.tables.index import index_texts
from recompose.tables.lineage import INDEX, MADE, ReportIndex
from recompose.tables.published import PublishedLineage
from recompose.workspace import Workspace

Pages = Callable[[Audit], Mapping[str, str]]  # the texts of the page and the files beside it, which show an audit


def check_index(
    work: Workspace, papers: list[Paper], published: PublishedLineage, audited: Audit, pages: Pages
) -> AuditReport:
    """Check the page, the index and the numbers beside it against what was written, and what would be written now."""
    report = AuditReport()
    try:
        written = ReportIndex.read(work.reports).files
    except FileNotFoundError:
        report.note(Finding.of("missing-file", f"{work.reports_place}/{INDEX}", "is missing"))
        return report
    except LineageError as error:
        report.note(Finding.of("unreadable", f"{work.reports_place}/{INDEX}", str(error)))
        return report
    if not (work.reports / MADE).is_file():
        report.note(Finding.of("missing-file", f"{work.reports_place}/{MADE}", "is missing"))
    elif published.records and not published.made:
        report.note(Finding.of("unreadable", f"{work.reports_place}/{MADE}", "cannot be read"))
    due = _due(work, papers, published, audited, pages, report)
    for name in dict.fromkeys([*written, *due]):
        report.findings += _check(work, name, written.get(name), due.get(name))
    return report


def _due(
    work: Workspace,
    papers: list[Paper],
    published: PublishedLineage,
    audited: Audit,
    pages: Pages,
    report: AuditReport,
) -> dict[str, str]:
    """Return the files as they would be written now; none where results for them are missing."""
    planned = {recipe.key for recipe in work.plan.of("evaluations")}
    if not planned <= audited.numbers.keys():
        report.unchecked.append("the index needs evaluations that are missing or not valid")
        return {}
    runs = (recipe.needs["run"] for recipe in work.plan.of("evaluations") if "run" in recipe.needs)
    if not all(work.store.is_complete(run) for run in runs):
        report.unchecked.append("the index shows costs of runs that are missing")
        return {}
    try:
        texts = index_texts(Audited(work, published, audited.numbers), papers, published)
    except DamagedError as error:
        report.unchecked.append(f"the index: {error}")
        return {}
    if audited.findings or audited.report.unchecked or not published.made:
        return texts  # the page shows builds, and the audit before it was written, which may differ from this one
    return {**texts, **pages(audited)}


def _check(work: Workspace, name: str, written: str | None, due: str | None) -> list[Finding]:
    path, place = work.reports / name, f"{work.reports_place}/{name}"
    if not path.is_file():
        return [Finding.of("missing-file", place, "is missing")]
    if sha256_file(path) != written:
        return [Finding.of("changed-file", place, "was changed since it was written")]
    if due is not None and path.read_text(encoding="utf-8") != due:
        return [Finding.of("other-text", place, "artifacts, parameters, or the code that writes it, changed since")]
    return []
