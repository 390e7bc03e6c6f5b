"""`recompose data check`: the suites on disk, and what they lack."""

from collections import Counter
from pathlib import Path

from recompose.console import print_findings, print_json
from recompose.harness.survey import survey_all

STYLES = {
    "complete": "green",
    "partial": "yellow",
    "incomplete": "bold red",
    "broken": "bold red",
    "absent": "dim",
}  # by state, in the order of the last line


def show_suites(data: Path, *, as_json: bool) -> int:
    """Print each published suite below a folder, with its state and what it lacks; return the exit code."""
    suites = survey_all(data)
    counts = Counter[str](suite.state for suite in suites)
    if as_json:
        parts = ("name", "state", "finding", "remedy")
        print_json([{part: getattr(suite, part) for part in parts} for suite in suites])
    else:
        rows = ((suite.name, (suite.state, STYLES[suite.state]), suite.finding, suite.remedy) for suite in suites)
        print_findings("suite", rows)
        print(", ".join(f"{counts[state]} {state}" for state in STYLES if counts[state]))
    return 1 if counts["incomplete"] or counts["broken"] else 0
