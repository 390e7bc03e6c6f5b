"""How a look at the machine reads in a terminal."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.monitor.doctor import FINE, STATES, STOPS, WARNING, Check
from recompose.terminal.text import counted, plain

STYLES = {FINE: "green", WARNING: "yellow", STOPS: "bold red"}


def show_doctor(console: Console, checks: Iterable[Check]) -> None:
    """A line for each check, with a remedy where it is not fine, and the verdict."""
    checks = list(checks)
    table = Table("what", "", box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("found, and what to do", overflow="fold")  # files are to be found by what stands there
    for check in checks:
        remedy = f"\n  {plain(check.remedy)}" if check.remedy else ""
        said = Text.assemble(plain(check.found), (remedy, "dim"))
        table.add_row(Text(plain(check.what)), Text(check.state, STYLES[check.state]), said)
    console.print(table)
    console.print(Text(_verdict(checks)))


def _verdict(checks: list[Check]) -> str:
    counts = {state: sum(check.state == state for check in checks) for state in STATES}
    if counts[STOPS]:
        return f"{counted(counts[STOPS], 'thing')} would stop the workflow, {counted(counts[WARNING], 'warning')}"
    warnings = f", {counted(counts[WARNING], 'warning')}" if counts[WARNING] else ""
    return f"nothing would stop the workflow{warnings}"
