"""The study: the profile whose replicates decide claims. Other reports show its verdicts beside their own."""

import csv
from collections.abc import Iterable
from pathlib import Path

from recompose.papers.declaration import CLAIMS, Paper
from recompose.report.claims.cells import verdict_counts

STUDY = "study"  # the profile's name, and that of its folder of reports
VERDICT = " verdict"  # ends the columns of a file of claims that hold verdicts


def study_claims(reports: Path, papers: Iterable[Paper]) -> dict[str, Path]:
    """Return the file of claims of each paper in the study's reports, by paper; none for the study itself.

    Args:
        reports: the folder of a profile's reports.
        papers: the papers of these.
    """
    files = {paper.name: reports.with_name(STUDY) / paper.name / f"{CLAIMS}.csv" for paper in papers}
    return {name: file for name, file in files.items() if reports.name != STUDY and file.is_file()}


def verdicts_in(file: Path) -> dict[str, int]:
    """Return the number of claims with each verdict, by a file of claims; of several data sets together.

    What is no verdict does not count: the audit of the study finds a damaged file, and other reports do without it.
    """
    with file.open(newline="", encoding="utf-8", errors="replace") as lines:
        cells = [cell for cell in csv.DictReader(lines) if (cell.get("column") or "").endswith(VERDICT)]
    counts = verdict_counts(cell.get("text") or "" for cell in cells)
    return {verdict: count for verdict, count in counts.items() if count}
