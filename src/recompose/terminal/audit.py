"""How an audit looks in a terminal."""

from collections import Counter
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.provenance.audit import reach
from recompose.provenance.compare_revisions import Comparison
from recompose.report.findings import Audit, Finding
from recompose.report.published import PublishedLineage
from recompose.report.trust import STATES
from recompose.terminal.text import colour_of, plain

MOST = 20  # cells that differ, that are named
NAMED = 6  # places of one finding, and things that were not checked, that are named


def show_audit(console: Console, audit: Audit, published: PublishedLineage) -> None:
    """What does not hold and why, what could not be checked, and how many cells of each artifact are in which state."""
    order = {state: place for place, state in enumerate(STATES)}
    findings = sorted(audit.findings, key=lambda finding: (order[finding.state], finding.why, finding.remedy))
    for (state, why, remedy), group in groupby(
        findings, key=lambda finding: (finding.state, finding.why, finding.remedy)
    ):
        _say(console, (state, f"bold {colour_of(state)}"), f": {why}")
        _show_places(console, [_place(published, each) for each in group])
        if remedy:
            _say(console, (f"    remedy: {remedy}", "dim"))
    if audit.report.unchecked:
        _say(console, ("not checked", "bold"), f": {len(audit.report.unchecked)}")
        _show_places(console, [(text, "") for text in audit.report.unchecked])
        if audit.remedy:
            _say(console, (f"    remedy: {audit.remedy}", "dim"))
    console.print(_table(audit))
    _say(console, *_verdict(audit))


def _say(console: Console, *parts: str | tuple[str, str]) -> None:
    """Print a line as it is: what stands in files and names is no markup, and commands nothing to a terminal."""
    printable = (plain(part) if isinstance(part, str) else (plain(part[0]), part[1]) for part in parts)
    console.print(Text.assemble(*printable), soft_wrap=True)


def _place(published: PublishedLineage, finding: Finding) -> tuple[str, str]:
    """A place, and which cells of artifacts rest on it where it is none of theirs."""
    cells = reach(published, finding)
    if not cells or not finding.place.startswith(("results/", "data/")):
        return finding.place, ""
    count, names = sum(cells.values()), ", ".join([*cells][:NAMED])
    more = f" and {len(cells) - NAMED} more" if len(cells) > NAMED else ""
    return finding.place, f" (reaches {count} {'cell' if count == 1 else 'cells'} of {names}{more})"


def _show_places(console: Console, places: list[tuple[str, str]]) -> None:
    for place, reached in places[:NAMED]:
        _say(console, f"    {place}", (reached, "dim"))
    if len(places) > NAMED:
        _say(console, f"    and {len(places) - NAMED} more (--json names all)")


def _table(audit: Audit) -> Table:
    """Measured cells by state, a line for each artifact that has any, and a line of all."""
    states = [state for state in reversed(STATES) if state == "current" or audit.report.cells[state]]
    table = Table(box=None)
    table.add_column("artifact")
    for state in states:
        table.add_column(state, justify="right")
    for name, of_cells in audit.states.items():
        cells = Counter(of_cells.values())
        if cells:
            table.add_row(Text(plain(name)), *(str(cells[state] or "") for state in states))
    table.add_row("[bold]all cells[/bold]", *(str(audit.report.cells[state]) for state in states))
    return table


def _verdict(audit: Audit) -> list[str | tuple[str, str]]:
    runs = (
        f"{audit.recomputed} of {audit.evaluations} evaluations recomputed from their scores, {audit.files} files read"
    )
    if audit.report.clean and not audit.report.unchecked:
        return [("clean", "bold green"), f": everything that the reports show follows from its runs; {runs}"]
    if audit.report.clean:
        return [("nothing found", "bold"), f", but not all of it could be checked, see above; {runs}"]
    by_state = Counter(each.state for each in audit.findings)
    counts = ", ".join(f"{by_state[state]} {state}" for state in STATES if by_state[state])
    return [("not clean", "bold red"), f": findings: {counts}; {runs}"]


def show_comparison(console: Console, comparison: Comparison) -> None:
    """How many cells are as they were at a revision, and which are not."""
    for line in comparison.differing[:MOST]:
        _say(console, ("different", "bold red"), f": {line}")
    if len(comparison.differing) > MOST:
        _say(console, f"and {len(comparison.differing) - MOST} more (--json names all)")
    counts = ", ".join(
        f"{count} {word}" for word, count in sorted(comparison.counts.items(), key=lambda each: -each[1])
    )
    _say(console, f"against {comparison.revision} ({comparison.commit[:12]}): {counts or 'no cells'}")
    verdict = ("the same numbers", "bold green") if comparison.same else ("not the same numbers", "bold red")
    _say(console, verdict)
