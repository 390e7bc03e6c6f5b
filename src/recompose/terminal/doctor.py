"""The output of `recompose doctor`."""

from collections import Counter
from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.console import pluralize
from recompose.monitor.doctor import FINE, STATES, STOPS, WARNING, Check
from recompose.progress import printable
from recompose.tracks.model_evaluation import SuiteCondition, SuiteState

STYLES = {FINE: "green", WARNING: "yellow", STOPS: "bold red"}
SUITE_STYLES: dict[SuiteState, str] = {
    "complete": "green",
    "partial": "yellow",
    "incomplete": "bold red",
    "broken": "bold red",
    "absent": "dim",
}


def show_doctor(console: Console, checks: Iterable[Check]) -> None:
    """Print a row for each check, with its remedy, and the verdict."""
    checks = list(checks)
    table = _table("check")
    for check in checks:
        table.add_row(*_cells(check.subject, check.state, STYLES[check.state], check.finding, check.remedy))
    console.print(table)
    console.print(Text(_verdict(checks)))


def show_suites(console: Console, suites: Sequence[SuiteCondition]) -> None:
    """Print a row for each suite with its state and what it lacks, and the number of suites in each state."""
    table = _table("suite")
    for suite in suites:
        table.add_row(*_cells(suite.name, suite.state, SUITE_STYLES[suite.state], suite.finding, suite.remedy))
    console.print(table)
    counts = Counter(suite.state for suite in suites)
    console.print(Text(", ".join(f"{counts[state]} {state}" for state in SUITE_STYLES if counts[state])))


def _table(subject: str) -> Table:
    table = Table(subject, "", box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("finding and remedy", overflow="fold")  # names of files are never cut
    return table


def _cells(subject: str, state: str, style: str, finding: str, remedy: str) -> tuple[Text, Text, Text]:
    text = Text.assemble(printable(finding), (f"\n  {printable(remedy)}" if remedy else "", "dim"))
    return Text(printable(subject)), Text(state, style), text


def _verdict(checks: list[Check]) -> str:
    counts = {state: sum(check.state == state for check in checks) for state in STATES}
    warnings = pluralize(counts[WARNING], "warning")
    if counts[STOPS]:
        return f"{pluralize(counts[STOPS], 'problem')} would stop the workflow, {warnings}"
    return f"nothing would stop the workflow{f', {warnings}' if counts[WARNING] else ''}"
