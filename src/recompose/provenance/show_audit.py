"""How an audit looks in a terminal."""

from collections import Counter
from itertools import groupby

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from recompose.provenance.audit import reach
from recompose.provenance.checks.findings import STATES, UNCHECKED, Audit, Finding
from recompose.provenance.shown import Shown

COLOURS = {"tampered": "red", "incomplete": "red", "mixed": "yellow", "uncommitted": "yellow", "stale": "yellow"}
NAMED = 6  # places of one finding, and things that were not checked, that are named


def show_audit(console: Console, audit: Audit, shown: Shown) -> None:
    """What does not hold and why, what could not be checked, and how many cells of each artifact are in which state."""
    order = {state: place for place, state in enumerate(STATES)}
    findings = sorted(audit.findings, key=lambda found: (order[found.state], found.why, found.remedy))
    for (state, why, remedy), group in groupby(findings, key=lambda found: (found.state, found.why, found.remedy)):
        _show_finding(console, shown, state, why, remedy, list(group))
    _show_unchecked(console, audit.report.unchecked)
    console.print(_table(audit))
    console.print(_verdict(audit))


def _show_finding(console: Console, shown: Shown, state: str, why: str, remedy: str, found: list[Finding]) -> None:
    console.print(f"[bold {COLOURS[state]}]{state}[/]: {escape(why)}", highlight=False)
    for each in found[:NAMED]:
        cells = reach(shown, each)
        said = f" (reaches {sum(cells.values())} cells of {', '.join(cells)})" if cells and "/" in each.place else ""
        console.print(f"    {escape(each.place)}[dim]{escape(said)}[/dim]")
    if len(found) > NAMED:
        console.print(f"    and {len(found) - NAMED} more (--json names all)")
    if remedy:
        console.print(f"    [dim]remedy: {escape(remedy)}[/dim]")


def _show_unchecked(console: Console, unchecked: list[str]) -> None:
    if not unchecked:
        return
    console.print(f"[bold]not checked[/]: {len(unchecked)}")
    for text in unchecked[:NAMED]:
        console.print(f"    {escape(text)}")
    if len(unchecked) > NAMED:
        console.print(f"    and {len(unchecked) - NAMED} more (--json names all)")


def _table(audit: Audit) -> Table:
    """Measured cells by state, a line for each artifact that has any, and a line of all."""
    states = [state for state in (*reversed(STATES), UNCHECKED) if state == "current" or audit.report.cells[state]]
    table = Table(box=None)
    table.add_column("artifact")
    for state in states:
        table.add_column(state, justify="right")
    for name, of_cells in audit.states.items():
        cells = Counter(of_cells.values())
        if cells:
            table.add_row(name, *(str(cells[state] or "") for state in states))
    table.add_row("[bold]all[/bold]", *(str(audit.report.cells[state]) for state in states))
    return table


def _verdict(audit: Audit) -> str:
    recomputed = f"{audit.recomputed} of {audit.runs} runs recomputed from their scores, {audit.files} files read"
    if audit.report.clean and not audit.report.unchecked:
        return f"[bold green]clean[/]: everything that the reports show follows from its runs; {recomputed}"
    if audit.report.clean:
        return f"[bold green]clean[/], as far as it could be checked; {recomputed}"
    counts = ", ".join(
        f"{sum(found.state == state for found in audit.findings)} {state}"
        for state in STATES
        if any(found.state == state for found in audit.findings)
    )
    return f"[bold red]not clean[/]: {counts}; {recomputed}"
