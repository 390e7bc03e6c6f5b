"""`recompose audit`: the findings, with their remedies, and the number of cells by state."""

import gc
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from recompose.audit.audit import audit, audit_document, reach
from recompose.audit.findings import Audit, Finding
from recompose.commands.release import open_release
from recompose.console import Part, first, line, new_table, pluralize, print_json, print_line
from recompose.palette import STATES as COLOURS
from recompose.papers.declaration import Paper
from recompose.progress import say
from recompose.recipes.state import CURRENT, STATES
from recompose.site.build import page_of
from recompose.tables.published import Published
from recompose.tables.reports import Reports
from recompose.workspace import PROFILE, Workspace

GROUPS = 4  # kinds of findings that are shown on one screen
NAMED = 6  # places of a finding, and artifacts that are named


def show_audit(work: Workspace, papers: list[Paper], *, full: bool, as_json: bool) -> int:
    """Audit papers, and print what was found; return the exit code.

    Args:
        work: the workspace.
        papers: the papers; the page is checked if these are all.
        full: show all findings, and the cells of each artifact instead of each paper.
        as_json: print JSON.
    """
    published, audited = audit_reports(work, papers)
    return _show(audited, published, full=full, as_json=as_json)


def show_release_audit(archive: Path, *, full: bool, as_json: bool) -> int:
    """Audit a release with the parameters that it holds; return the exit code.

    No code in it runs: of plugins, those that are installed are used.
    """
    with open_release(archive) as (root, release):
        say(f"made by {release.program}, commit {release.commit}")
        say("a release holds scores; it does not hold the runs, features and images behind them")
        os.environ[PROFILE] = release.profile
        work = Workspace(root, is_trusted=False)
        published, audited = audit_reports(work, work.papers)
        # an archive has no remote, and nothing is made or restored in it
        audited = replace(audited, everything=[replace(finding, remedy="") for finding in audited.everything])
        return _show(audited, published, full=full, as_json=as_json)


def audit_reports(work: Workspace, papers: list[Paper]) -> tuple[Published, Audit]:
    """Audit papers by what their reports tell."""
    reports = Reports(work)
    published = Published.read(reports)
    gc.freeze()  # recipes and cells live to the end as well
    return published, audit(reports, published, papers, page=lambda audited: page_of(reports, published, audited))


def _show(audited: Audit, published: Published, *, full: bool, as_json: bool) -> int:
    if as_json:
        print_json(audit_document(audited, published))
    else:
        show_findings(Console(), audited, published, full=full)
    return 0 if audited.clean else 1


def show_findings(console: Console, audited: Audit, published: Published, *, full: bool = False) -> None:
    """Print what was found or could not be checked, the worst first, and the number of cells by state.

    Args:
        console: the terminal.
        audited: the audit.
        published: the reports.
        full: true for all findings, and for a row of each artifact instead of each paper.
    """
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in sorted(audited.everything, key=lambda finding: STATES.index(finding.state)):
        groups.setdefault((finding.state, finding.why, finding.remedy), []).append(finding)
    for (state, why, remedy), group in list(groups.items())[: None if full else GROUPS]:
        print_line(console, (state, f"bold {COLOURS[state]}"), f": {why}")
        for finding in group if full else group[:NAMED]:
            print_line(console, f"    {finding.place}", (_reach_note(published, finding), "dim"))
        if len(group) > NAMED and not full:
            print_line(console, f"    and {len(group) - NAMED} more (--full names them)")
        if remedy:
            print_line(console, (f"    remedy: {remedy}", "dim"))
    if len(groups) > GROUPS and not full:
        print_line(console, "and findings of other kinds (--full names them)")
    console.print(_table(audited, full=full))
    if audited.uncommitted:
        print_line(console, f"no commit holds the code of {pluralize(len(audited.uncommitted), 'result')}: commit it")
    print_line(console, *_outcome(audited))


def _reach_note(published: Published, finding: Finding) -> str:
    """Return a note on the cells that rest on something outside of the reports."""
    cells = reach(published, finding) if finding.place.startswith(("results/", "data/")) else {}
    names = ", ".join(first(cells, NAMED))
    return f" (reaches {pluralize(sum(cells.values()), 'cell')} of {names})" if cells else ""


def _table(audited: Audit, *, full: bool) -> Table:
    """Return the number of measured cells by state, for each paper or artifact that has any, and in total."""
    rows: dict[str, Counter[str]] = {}
    for name, cells in audited.cells.items():
        counts = Counter(state.word for state in cells.values())
        rows.setdefault(name if full else name.partition("/")[0], Counter()).update(counts)
    rows["all cells"] = audited.words
    words = [word for word in reversed(STATES) if word == CURRENT or audited.words[word]]
    table = new_table(["artifact" if full else "paper"], words)
    for name, counts in rows.items():
        if counts:
            table.add_row(line(name), *(str(counts[word]) for word in words))
    return table


def _outcome(audited: Audit) -> list[Part]:
    told = f", {audited.followed} as in provenance.json, as their scores are not here" if audited.followed else ""
    runs = f"{audited.recomputed} of {audited.evaluations} evaluations computed from their scores{told}"
    count, numbers = sum(map(len, audited.compared.values())), audited.words.total()
    again = f"{count:,} of {numbers:,} numbers computed again and equal, {runs}, {audited.files} files read"
    if not audited.clean:
        by_state = Counter(finding.state for finding in audited.findings)
        counts = ", ".join(f"{by_state[state]} {state}" for state in STATES if by_state[state])
        return [("not clean", "bold red"), f": findings: {counts}; {again}"]
    if not audited.unchecked:
        return [("clean", "bold green"), f": everything in the reports follows from its runs; {again}"]
    return [("clean as far as can be told here" if count else "nothing found", "bold green"), f": {again}"]
