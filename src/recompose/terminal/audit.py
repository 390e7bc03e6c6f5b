"""The output of `recompose audit`."""

from collections import Counter
from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from recompose.console import pluralize, print_line, state_colour
from recompose.progress import printable
from recompose.provenance.audit import reach
from recompose.report.findings import Audit, Finding
from recompose.report.published import PublishedLineage
from recompose.report.trust import CURRENT, STATES, UNCHECKED, absence

GROUPS = 4  # kinds of findings that are shown on one screen
FEW, NAMED = 2, 6  # places of a finding, and unchecked parts, that are named
FROM_SCORES = "from scores"  # the column of unchecked cells whose values follow from scores
WORDS = {
    FROM_SCORES: "computed again from scores and equal; what made the scores, such as runs, is not on this disk",
    UNCHECKED: "not computed again; their files are as they were written",
}


def show_audit(console: Console, audit: Audit, published: PublishedLineage, *, full: bool = False) -> None:
    """Print the findings with reasons, the unchecked parts, and the number of cells by state.

    Args:
        console: the terminal.
        audit: the audit.
        published: the lineage of the reports.
        full: true for all findings, and for a row of each artifact instead of each paper.
    """
    order = {state: place for place, state in enumerate(STATES)}
    findings = sorted(audit.findings, key=lambda finding: (order[finding.state], finding.why, finding.remedy))
    groups = [
        (reason, list(group))
        for reason, group in groupby(findings, key=lambda finding: (finding.state, finding.why, finding.remedy))
    ]
    for (state, why, remedy), group in groups if full else groups[:GROUPS]:
        print_line(console, (state, f"bold {state_colour(state)}"), f": {why}")
        _show_places(console, [_place(published, finding) for finding in group], len(group) if full else FEW)
        if remedy:
            print_line(console, (f"    remedy: {remedy}", "dim"))
    if len(groups) > GROUPS and not full:
        print_line(console, f"and findings of {len(groups) - GROUPS} more kinds (--full names them)")
    if audit.report.unchecked:
        print_line(console, ("not checked", "bold"), f": {len(audit.report.unchecked)}")
        texts = [
            *_absent_texts(audit, published, full=full),
            *((text, "") for text in _unchecked_texts(audit, published)),
        ]
        _show_places(console, texts, len(texts) if full else NAMED)
        if audit.remedy:
            print_line(console, (f"    remedy: {audit.remedy}", "dim"))
    for text in audit.pulled:
        print_line(console, text)
    console.print(_table(audit, full=full))
    if any(map(audit.from_scores, audit.states)):
        for word, meaning in WORDS.items():
            print_line(console, f"{word}: {meaning}")
    print_line(console, *_verdict(audit))


def _absent_texts(audit: Audit, published: PublishedLineage, *, full: bool) -> list[tuple[str, str]]:
    """Return the absent results: each with the cells that rest on it where they are few, otherwise counted by kind."""
    absent = {key: text for key in published.records if (text := absence(key)) in audit.report.unchecked}
    if full or (len(absent) <= NAMED and len(absent) < len(published.records)):
        return [
            (text, _reach_note({name: len(cells) for name, cells in published.reach(key).items()}))
            for key, text in absent.items()
        ]
    kinds = Counter(published.records[key].kind for key in absent)
    counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    return [(f"{len(absent)} results are not on this disk: {counts} (--full names them)", "")]


def _unchecked_texts(audit: Audit, published: PublishedLineage) -> list[str]:
    """Return the unchecked parts except for absent results, with the number that share a reason."""
    absent = {absence(key) for key in published.records}
    reasons: dict[str, list[str]] = {}
    for text in audit.report.unchecked:
        if text not in absent:
            place, separator, reason = text.partition(": ")
            reasons.setdefault(reason if separator else text, []).append(place)
    texts = []
    for reason, places in reasons.items():
        more = f" and {len(places) - 1} more" if len(places) > 1 else ""
        texts.append(reason if places == [reason] else f"{places[0]}{more}: {reason}")
    return texts


def _place(published: PublishedLineage, finding: Finding) -> tuple[str, str]:
    """Return the place of a finding, and the cells that rest on it where it lies outside of the reports."""
    is_outside = finding.place.startswith(("results/", "data/"))
    return finding.place, _reach_note(reach(published, finding)) if is_outside else ""


def _reach_note(cells: dict[str, int]) -> str:
    """Return a note on the cells of artifacts that rest on something; empty if none does."""
    if not cells:
        return ""
    count, names = sum(cells.values()), ", ".join([*cells][:NAMED])
    more = f" and {len(cells) - NAMED} more" if len(cells) > NAMED else ""
    return f" (reaches {pluralize(count, 'cell')} of {names}{more})"


def _show_places(console: Console, places: list[tuple[str, str]], most: int) -> None:
    for place, reach_note in places[:most]:
        print_line(console, f"    {place}", (reach_note, "dim"))
    if len(places) > most:
        print_line(console, f"    and {len(places) - most} more (--full names them)")


def _table(audit: Audit, *, full: bool) -> Table:
    """Return the number of measured cells by state, for each paper or artifact that has any, and in total.

    Unchecked cells that follow from scores stand in a column of their own.
    """
    rows: dict[str, Counter[str]] = {}
    for name in audit.states:
        rows.setdefault(name if full else name.partition("/")[0], Counter()).update(_counts(audit, name))
    total = sum(rows.values(), Counter[str]())
    words = [word for word in (CURRENT, FROM_SCORES, *reversed(STATES[:-1])) if word == CURRENT or total[word]]
    table = Table(box=None)
    table.add_column("artifact" if full else "paper")
    for word in words:
        table.add_column(word, justify="right")
    for name, cells in rows.items():
        if cells:
            table.add_row(Text(printable(name)), *(str(cells[word] or "") for word in words))
    table.add_row("[bold]all cells[/bold]", *(str(total[word]) for word in words))
    return table


def _counts(audit: Audit, artifact: str) -> Counter[str]:
    """Return the number of an artifact's cells by state, those from scores apart from other unchecked ones."""
    states, from_scores = Counter(audit.states[artifact].values()), audit.from_scores(artifact)
    return states + Counter({FROM_SCORES: from_scores}) - Counter({UNCHECKED: from_scores})


def _verdict(audit: Audit) -> list[str | tuple[str, str]]:
    runs = (
        f"{audit.recomputed} of {audit.evaluations} evaluations recomputed from their scores, {audit.files} files read"
    )
    if audit.report.clean and not audit.report.unchecked:
        return [("clean", "bold green"), f": everything in the reports follows from its runs; {runs}"]
    if audit.report.clean and 0 < audit.recomputed == audit.evaluations:
        count, numbers = sum(map(len, audit.compared.values())), audit.report.cells.total()
        text = f": {count:,} of {numbers:,} numbers were computed again and are equal; {runs}"
        return [("clean as far as scores show", "bold green"), text]
    if audit.report.clean:
        return [("nothing found", "bold"), f", but some parts could not be checked, see above; {runs}"]
    by_state = Counter(finding.state for finding in audit.findings)
    counts = ", ".join(f"{by_state[state]} {state}" for state in STATES if by_state[state])
    return [("not clean", "bold red"), f": findings: {counts}; {runs}"]
