"""A check of the index of the reports, and of the numbers beside it, against the artifacts' evaluations."""

from recompose.audit.checks import INSPECT, REMAKE
from recompose.audit.checks.recorded import Audited
from recompose.audit.findings import Audit, AuditReport, Finding
from recompose.digest import sha256_file
from recompose.errors import DamagedError, LineageError
from recompose.papers.declaration import Paper
from recompose.site.build import pages
from recompose.site.document import Site
from recompose.tables.index import index_texts
from recompose.tables.lineage import INDEX, MADE, ReportIndex
from recompose.tables.published import PublishedLineage
from recompose.workspace import Workspace


def check_index(work: Workspace, papers: list[Paper], published: PublishedLineage, audited: Audit) -> AuditReport:
    """Check the page, the index and the numbers beside it against what was written, and what would be written now."""
    report = AuditReport()
    try:
        written = ReportIndex.read(work.reports).files
    except FileNotFoundError:
        report.findings.append(Finding("incomplete", f"{work.reports_place}/{INDEX}", "is missing", REMAKE))
        return report
    except LineageError as error:
        report.findings.append(Finding("tampered", f"{work.reports_place}/{INDEX}", str(error), INSPECT))
        return report
    if not (work.reports / MADE).is_file():
        report.findings.append(Finding("incomplete", f"{work.reports_place}/{MADE}", "is missing", REMAKE))
    elif published.records and not published.made:
        report.findings.append(Finding("tampered", f"{work.reports_place}/{MADE}", "cannot be read", INSPECT))
    due = _due(work, papers, published, audited, report)
    for name in dict.fromkeys([*written, *due]):
        report.findings += _check(work, name, written.get(name), due.get(name))
    return report


def _due(
    work: Workspace, papers: list[Paper], published: PublishedLineage, audited: Audit, report: AuditReport
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
    if audited.findings or audited.report.unchecked:
        return texts  # the page shows the audit before it was written, which may differ from this one
    return texts | pages(Site(papers, published, audited, work.params), work.reports)


def _check(work: Workspace, name: str, written: str | None, due: str | None) -> list[Finding]:
    path, place = work.reports / name, f"{work.reports_place}/{name}"
    if not path.is_file():
        return [Finding("incomplete", place, "is missing", REMAKE)]
    if sha256_file(path) != written:
        return [Finding("tampered", place, "was changed since it was written", INSPECT)]
    if due is not None and path.read_text(encoding="utf-8") != due:
        return [Finding("stale", place, "artifacts, parameters, or the code that writes it, changed since", REMAKE)]
    return []
