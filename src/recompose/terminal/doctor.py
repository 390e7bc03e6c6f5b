"""The output of `recompose doctor`."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.monitor.doctor import FINE, STATES, STOPS, WARNING, Check
from recompose.terminal.text import pluralize, printable

STYLES = {FINE: "green", WARNING: "yellow", STOPS: "bold red"}


def show_doctor(console: Console, checks: Iterable[Check]) -> None:
    """Print a row for each check, with its remedy, and the verdict."""
    checks = list(checks)
    table = Table("check", "", box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("finding and remedy", overflow="fold")  # names of files are never cut
    for check in checks:
        remedy = f"\n  {printable(check.remedy)}" if check.remedy else ""
        text = Text.assemble(printable(check.finding), (remedy, "dim"))
        table.add_row(Text(printable(check.subject)), Text(check.state, STYLES[check.state]), text)
    console.print(table)
    console.print(Text(_verdict(checks)))


def _verdict(checks: list[Check]) -> str:
    counts = {state: sum(check.state == state for check in checks) for state in STATES}
    warnings = pluralize(counts[WARNING], "warning")
    if counts[STOPS]:
        return f"{pluralize(counts[STOPS], 'problem')} would stop the workflow, {warnings}"
    return f"nothing would stop the workflow{f', {warnings}' if counts[WARNING] else ''}"
