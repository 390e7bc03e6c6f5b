"""Tables and sentences about runs and evaluations, by papers, or by method and data set."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator

from rich.table import Table
from rich.text import Text

from recompose.console import clock_duration, gibibytes, pluralize, rough_duration
from recompose.costs import BASES, MEASURED, SIMILAR, UNKNOWN, CostEstimate
from recompose.monitor.edit_impact import EditImpact
from recompose.monitor.work_plan import Group, PlannedItem, Workload, WorkPlan
from recompose.phases import PHASES, TRAINED
from recompose.progress import printable

WORDS = {MEASURED: "measured", SIMILAR: "similar jobs"}  # about the basis of estimates
MOST = 6  # names that a sentence lists
AT_LEAST = ">"  # before a time that lacks some estimates


def groups_table(plan: EditImpact, *, every: bool) -> Table:
    """Return a table of the runs and evaluations, the complete ones among them, and the time that is left.

    Args:
        plan: the work; after edits, rows are left out where nothing is new or left, and a column counts what is new.
        every: a row for each method and data set, instead of one for all that the same papers need.
    """
    groups = [group for group in (plan.by_method if every else plan.by_papers) if _counts(plan, group.members)]
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))  # fits 80 columns
    for name in ("papers", "methods", "data sets"):
        table.add_column(name)
    for name in (*TRAINED, *(["new"] if plan.edits else ()), "time left"):
        table.add_column(name, justify="right", no_wrap=True)
    has_memory = plan.gpu_seconds > 0 and any(group.workload.memory is not None for group in groups)
    if has_memory:
        table.add_column("memory", justify="right", no_wrap=True)
    for group in groups:
        workload = group.workload
        cells = [paper_names(group), _methods(group), _name_or_count(group.datasets)]
        cells += [completeness(group.members_of(kind)) for kind in TRAINED]
        cells += [str(sum(item.new for item in group.members))] if plan.edits else []
        cells += [time_left(workload), *([gibibytes(workload.memory)] * has_memory)]
        table.add_row(*(Text(printable(cell)) for cell in cells))
    return table


def _counts(plan: EditImpact, items: Iterable[PlannedItem]) -> bool:
    return not plan.edits or any(item.new or not item.there for item in items)


def paper_names(group: Group) -> str:
    """Return the names of the papers that need a group."""
    return ", ".join(group.papers) or "no paper"


def _methods(group: Group) -> str:
    variants, methods = len(group.variants), _name_or_count(group.methods)
    return f"{methods} + {pluralize(variants, 'variant')}" if variants else methods


def _name_or_count(names: list[str]) -> str:
    return names[0] if len(names) == 1 else str(len(names))


def completeness(items: list[PlannedItem]) -> str:
    """Return the number of complete items, as in "3 of 5"; empty without items."""
    return f"{sum(item.there for item in items)} of {len(items)}" if items else ""


def time_left(workload: Workload) -> str:
    """Return the time that a workload takes, marked where estimates are missing.

    >>> time_left(Workload(100, None, {"measured": 3})), time_left(Workload(100, None, {"measured": 3, "unknown": 2}))
    ('2 min', '> 2 min')
    >>> time_left(Workload(0, None, {"unknown": 2})), time_left(Workload(0, None, {}))
    ('unknown', '')
    """
    if not workload.bases or [*workload.bases] == [UNKNOWN]:
        return UNKNOWN if workload.bases else ""
    duration = rough_duration(workload.seconds)
    return f"{AT_LEAST} {duration}" if UNKNOWN in workload.bases else duration


def steps(plan: WorkPlan) -> str:
    """Return the number of complete steps before runs, by phase."""
    by_phase = {kind: [step for step in plan.steps if step.kind == kind] for kind in PHASES}
    return ", ".join(f"{kind} {completeness(items)}" for kind, items in by_phase.items() if items)


def steps_table(plan: EditImpact) -> Table:
    """Return a table of the steps before runs, with one row for all of a name; after edits, of what is new or left."""
    by_name: dict[tuple[str, str], list[PlannedItem]] = {}
    for step in plan.steps:
        by_name.setdefault((step.kind, step.title), []).append(step)
    table = Table("phase", "step", box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("complete", "time left"):
        table.add_column(name, justify="right", no_wrap=True)
    for (kind, title), items in by_name.items():
        if not _counts(plan, items):
            continue
        duration = time_left(Workload.of(item for item in items if not item.there))
        table.add_row(kind, Text(printable(title)), completeness(items), duration)
    return table


def total(plan: WorkPlan) -> Iterator[str]:
    """Yield sentences about the total time that is left, the sources of the estimates, and what has none."""
    workload, unknown = plan.workload, plan.left.unknown
    if unknown < len(plan.to_make):
        cores = pluralize(os.cpu_count() or 1, "core")
        text = f"{'At least' if unknown else 'About'} {clock_duration(plan.left.seconds)} (h:mm) left on {cores}"
        if plan.gpu_seconds:
            hours = plan.gpu_seconds / 3600
            text += f" and one GPU ({hours:,.{0 if hours >= 100 else 1}f} GPU-hours)"
        if workload.memory is not None and plan.gpu_seconds:
            text += f", at most {gibibytes(workload.memory)} of GPU memory"
        yield f"{text}, plus artifacts."
    yield from estimate_sources(item.estimate for item in plan.to_make if item.estimate)
    if unknown:
        yield _missing_estimates(plan, unknown)


def estimate_sources(estimates: Iterable[CostEstimate]) -> Iterator[str]:
    """Yield sentences that name the basis of estimates, its share of the time, and the machines."""
    estimates = list(estimates)
    whole = sum(estimate.seconds for estimate in estimates)
    by_basis = {basis: [estimate for estimate in estimates if estimate.basis == basis] for basis in BASES}
    for basis, members in by_basis.items():
        if members:
            share = sum(estimate.seconds for estimate in members) / whole if whole else 1.0
            machines = dict.fromkeys(name for estimate in members for name in estimate.where)
            part = "" if len(members) == len(estimates) else f" {share:.0%} of the time,"
            yield f"Basis:{part} {WORDS[basis]} on {join_first(machines, '; ')}."


def join_first(names: Iterable[str], separator: str) -> str:
    """Join the first of some names, and count the others."""
    names = list(names)
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return separator.join(names[:MOST]) + more


def _missing_estimates(plan: WorkPlan, unknown: int) -> str:
    kinds = Counter(item.kind for item in plan.to_make if item.estimate is None)
    counts = ", ".join(pluralize(kinds[kind], kind.removesuffix("s"), kind) for kind in PHASES if kinds[kind])
    return f"No estimate for {unknown} of {len(plan.to_make)} jobs ({counts}): nothing like them was made."
