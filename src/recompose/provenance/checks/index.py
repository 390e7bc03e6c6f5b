"""Whether the index of the reports and the numbers beside it are what the artifacts' runs give."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from recompose.digest import sha256_file
from recompose.papers.declaration import Paper
from recompose.provenance.checks.findings import Audit, Finding, Report
from recompose.provenance.checks.recorded import Recorded, merged
from recompose.report.index import FILES, LINEAGE, curves_csv, metrics_json, readme
from recompose.report.lineage import SUFFIX
from recompose.report.schema import LineageError, read_checked
from recompose.site.build import page, site_of
from recompose.workspace import Workspace

AGAIN = "`snakemake --cores all`"


def check_index(work: Workspace, papers: list[Paper], found: Audit) -> Report:
    """Check the page, README.md, metrics.json and curves.csv against what the runs behind the artifacts give."""
    report = Report()
    path = work.reports / f"{LINEAGE}{SUFFIX}"
    if not path.is_file():
        report.findings.append(Finding("incomplete", _said(work, path), "is missing", AGAIN))
        return report
    try:
        lineage = read_checked(path)
    except LineageError as error:
        report.findings.append(Finding(error.state, _said(work, path), str(error), AGAIN))
        return report
    report.findings += _check_records(_said(work, path), lineage, found)
    recorded = Recorded(work.root, lineage=merged([*found.lineages, lineage]), numbers=found.numbers)
    # without findings the page is what it would be now; with some it tells of the audit before it was written
    runs = [key for key in recorded.lineage["records"] if key.startswith("runs/")]
    whole = found.numbers.keys() >= {*runs} and len(found.lineages) == len(found.states)
    if not whole:
        report.unchecked.append("the index rests on runs or lineages that cannot be relied on, or are not here")
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


def _check_records(place: str, lineage: dict[str, Any], found: Audit) -> Iterator[Finding]:
    """Compare the records of the index's lineage with those that artifacts have."""
    for key, record in lineage["records"].items():
        others = [other["records"][key] for other in found.lineages if key in other["records"]]
        if others and record not in others:
            again = record["made"]["started"] not in [other["made"]["started"] for other in others]
            why = f"its record of {key} is not that of the artifacts"
            yield Finding("stale" if again else "tampered", place, why, AGAIN, (key,))


def _check(work: Workspace, path: Path, written: str | None, write: Callable[[], str] | None) -> list[Finding]:
    if not path.is_file():
        return [Finding("incomplete", _said(work, path), "is missing", AGAIN)]
    if sha256_file(path) != written:
        return [Finding("tampered", _said(work, path), "was changed since it was written", AGAIN)]
    if write and path.read_text(encoding="utf-8") != write():
        return [
            Finding(
                "stale", _said(work, path), "artifacts, parameters, or the code that writes it, changed since", AGAIN
            )
        ]
    return []


def _said(work: Workspace, path: Path) -> str:
    return path.relative_to(work.root).as_posix()
