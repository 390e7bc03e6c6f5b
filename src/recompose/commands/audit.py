"""`recompose audit`: the findings, with their remedies, and the number of cells by state."""

import gc
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.table import Table

from recompose.audit.audit import audit, audit_document, check_beside, reach
from recompose.audit.findings import CURRENT, STATES, UNCHECKED, Audit, Finding
from recompose.commands.release import open_release
from recompose.console import Part, first, line, new_table, pluralize, print_json, print_line
from recompose.errors import DamagedError
from recompose.palette import STATES as COLOURS
from recompose.papers.declaration import Paper
from recompose.progress import say
from recompose.site.build import page_of
from recompose.tables.index import PAGE, index_texts
from recompose.tables.published import PublishedLineage
from recompose.tables.stored_results import StoredResults
from recompose.workspace import PROFILE, Workspace

GROUPS = 4  # kinds of findings that are shown on one screen
NAMED = 6  # places of a finding, and artifacts that are named
FOLLOWED = "followed"  # the column of unchecked cells that follow from scores, or from the values of evaluations
WORDS = {
    FOLLOWED: "computed again and equal, from scores or else from provenance.json; what made these is not on this disk",
    UNCHECKED: "not computed again; their files are as they were written",
}


def show_audit(work: Workspace, papers: list[Paper], *, full: bool, as_json: bool) -> int:
    """Audit papers, and print what was found; return the exit code.

    Args:
        work: the workspace.
        papers: the papers; the page is checked if these are all.
        full: show all findings, and the cells of each artifact instead of each paper.
        as_json: print JSON.
    """
    published = PublishedLineage.read(work, papers, is_whole=True)
    gc.freeze()  # lineages live to the end as well
    return _show(audit_reports(work, papers, published), published, full=full, as_json=as_json)


def show_release_audit(archive: Path, *, full: bool, as_json: bool) -> int:
    """Check the files of a release, and audit it with the parameters that it holds; return the exit code.

    No code in it runs: of plugins, those that are installed are used.
    """
    with open_release(archive) as opened:
        maker = f"{opened.release.program}, commit {opened.release.commit}"
        say(f"{opened.files} files match their SHA-256; made by {maker}")
        say("a release holds scores; it does not hold the runs, features and images behind them")
        os.environ[PROFILE] = opened.release.profile
        work = Workspace(opened.root, is_trusted=False)
        published = PublishedLineage.read(work, work.papers, is_whole=True)
        audited = audit_reports(work, work.papers, published)
        # an archive has no remote, and nothing is made or restored in it
        audited = replace(audited, everything=[replace(finding, remedy="") for finding in audited.everything])
        return _show(audited, published, full=full, as_json=as_json)


def audit_reports(work: Workspace, papers: list[Paper], published: PublishedLineage) -> Audit:
    """Audit papers; if these are all, also the page, the files beside it, and dvc.lock where no results are stored."""
    audited = audit(work, papers, published)
    if len(papers) < len(work.papers):
        return audited
    beside = check_beside(work, published, _due_texts(work, published, audited), audited.numbers)
    return replace(audited, everything=[*audited.everything, *beside])


def _due_texts(work: Workspace, published: PublishedLineage, audited: Audit) -> dict[str, str]:
    """Return the files that belong to no artifact, as they would be written now; none where results are missing.

    The page is among them only if it would show what it showed when it was written: builds, and an audit that
    found nothing and checked everything.
    """
    if not all(recipe.key in audited.numbers for recipe in work.plan.of("evaluations")):
        return {}
    try:
        due = index_texts(StoredResults(work, audited.numbers, published.made), published)
    except DamagedError:  # a finding of its own names it
        return {}
    if published.made and not audited.everything:
        due[PAGE] = page_of(work, published, audited)
    return due


def _show(audited: Audit, published: PublishedLineage, *, full: bool, as_json: bool) -> int:
    if as_json:
        print_json(audit_document(audited, published))
    else:
        show_findings(Console(), audited, published, full=full)
    return 0 if audited.clean else 1


def show_findings(console: Console, audited: Audit, published: PublishedLineage, *, full: bool = False) -> None:
    """Print what was found or could not be checked, the worst first, and the number of cells by state.

    Args:
        console: the terminal.
        audited: the audit.
        published: the lineage of the reports.
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
    if any(map(audited.followed, audited.states)):
        for word, meaning in WORDS.items():
            print_line(console, f"{word}: {meaning}")
    print_line(console, *_outcome(audited))


def _reach_note(published: PublishedLineage, finding: Finding) -> str:
    """Return a note on the cells that rest on something outside of the reports."""
    cells = reach(published, finding) if finding.place.startswith(("results/", "data/")) else {}
    names = ", ".join(first(cells, NAMED))
    return f" (reaches {pluralize(sum(cells.values()), 'cell')} of {names})" if cells else ""


def _table(audited: Audit, *, full: bool) -> Table:
    """Return the number of measured cells by state, for each paper or artifact that has any, and in total.

    Unchecked cells that were followed stand in a column of their own.
    """
    rows: dict[str, Counter[str]] = {}
    for name in audited.states:
        rows.setdefault(name if full else name.partition("/")[0], Counter()).update(_counts(audited, name))
    rows["all cells"] = total = sum(rows.values(), Counter[str]())
    words = [word for word in (CURRENT, FOLLOWED, *reversed(STATES[:-1])) if word == CURRENT or total[word]]
    table = new_table(["artifact" if full else "paper"], words)
    for name, cells in rows.items():
        if cells:
            table.add_row(line(name), *(str(cells[word]) for word in words))
    return table


def _counts(audited: Audit, artifact: str) -> Counter[str]:
    """Return the number of an artifact's cells by state, those that were followed apart from other unchecked ones."""
    states, followed = Counter(audited.states[artifact].values()), audited.followed(artifact)
    return states + Counter({FOLLOWED: followed}) - Counter({UNCHECKED: followed})


def _outcome(audited: Audit) -> list[Part]:
    evaluations = f"{audited.recomputed} of {audited.evaluations} evaluations"
    values = f", {audited.published} as in provenance.json, as their scores are not here" if audited.published else ""
    runs = f"{evaluations} recomputed from their scores{values}, {audited.files} files read"
    if not audited.clean:
        by_state = Counter(finding.state for finding in audited.findings)
        counts = ", ".join(f"{by_state[state]} {state}" for state in STATES if by_state[state])
        return [("not clean", "bold red"), f": findings: {counts}; {runs}"]
    if not audited.unchecked:
        return [("clean", "bold green"), f": everything in the reports follows from its runs; {runs}"]
    count, numbers = sum(map(len, audited.compared.values())), audited.cells.total()
    if not count:
        return [("nothing found", "bold"), f", but none of {numbers:,} numbers could be computed again; {runs}"]
    word = f"clean as far as {'values' if audited.published else 'scores'} show"
    return [(word, "bold green"), f": {count:,} of {numbers:,} numbers were computed again and are equal; {runs}"]
