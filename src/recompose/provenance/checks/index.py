"""Whether the index of the reports and the numbers beside it are what the artifacts' runs give."""

from collections.abc import Callable
from pathlib import Path

from recompose.digest import sha256_file
from recompose.files import read_json
from recompose.papers.declaration import Paper
from recompose.provenance.checks.findings import Audit, Finding, Report
from recompose.provenance.checks.recorded import Recorded, merged
from recompose.provenance.lineage import SUFFIX
from recompose.report.index import FILES, LINEAGE, curves_csv, metrics_json, readme
from recompose.report.site.build import page, site_of
from recompose.workspace import Workspace

AGAIN = "`snakemake --cores all`"


def check_index(work: Workspace, papers: list[Paper], found: Audit) -> Report:
    """Check the page, README.md, metrics.json and curves.csv against what the runs behind the artifacts give."""
    report = Report()
    path = work.reports / f"{LINEAGE}{SUFFIX}"
    if not path.is_file():
        report.findings.append(Finding("incomplete", _said(work, path), "is missing", AGAIN))
        return report
    lineage = read_json(path)
    recorded = Recorded(work.root, lineage=merged([*found.lineages, lineage]), numbers=found.numbers)
    # without findings the page is what it would be now; with some it tells of the audit before it was written
    whole = all(key in found.numbers for key in recorded.lineage["records"] if key.startswith("runs/"))
    if not whole:
        report.unchecked.append("the index rests on runs that cannot be relied on, or are not here")
    made: dict[str, Callable[[], str]] = {
        "README.md": lambda: readme(recorded, papers),
        "metrics.json": lambda: metrics_json(recorded),
        "curves.csv": lambda: curves_csv(recorded),
    }
    if found.report.clean:
        made["index.html"] = lambda: page(site_of(work, papers, found), work.reports)
    for name in FILES:
        write = made.get(name) if whole else None
        report.findings += _check(work, work.reports / name, lineage["files"].get(name), write)
    return report


def _check(work: Workspace, path: Path, written: str | None, write: Callable[[], str] | None) -> list[Finding]:
    if not path.is_file():
        return [Finding("incomplete", _said(work, path), "is missing", AGAIN)]
    if sha256_file(path) != written:
        return [Finding("tampered", _said(work, path), "was changed since it was written", AGAIN)]
    if write and path.read_text(encoding="utf-8") != write():
        return [Finding("stale", _said(work, path), "the artifacts, or the code that writes it, changed since", AGAIN)]
    return []


def _said(work: Workspace, path: Path) -> str:
    return path.relative_to(work.root).as_posix()
