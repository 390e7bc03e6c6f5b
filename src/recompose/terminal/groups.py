"""How runs and evaluations, and what they take, look in a terminal: by papers, or by method and data set."""

from collections import Counter
from collections.abc import Iterable, Iterator

from rich.table import Table
from rich.text import Text

from recompose.costs import UNKNOWN, CostEstimate
from recompose.engine import TRAINED
from recompose.monitor.work_plan import Group, Needed, Takes, WorkPlan
from recompose.phases import PHASES
from recompose.terminal.text import clock, counted, gibibytes, plain, rough

MOST = 6  # machines and proportions that are named
AT_LEAST = ">"  # before a time that is not known of all that it is of


def groups_table(outlook: WorkPlan, *, every: bool) -> Table:
    """What is there of what is asked for, and what the rest takes.

    Args:
        outlook: what it is about.
        every: a line for each method and data set, in place of one for all that the same papers need.
    """
    groups = outlook.by_method if every else outlook.by_papers
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))  # narrow enough for 80 columns
    for name in ("papers", "methods", "data sets"):
        table.add_column(name)
    for name in (*TRAINED, "time left"):
        table.add_column(name, justify="right", no_wrap=True)
    has_memory = outlook.gpu_seconds > 0 and any(group.takes.memory is not None for group in groups)
    if has_memory:
        table.add_column("memory", justify="right", no_wrap=True)
    for group in groups:
        takes = group.takes
        cells = [papers_of(group), _methods(group), _some(group.datasets)]
        cells += [there_of(group.of(kind)) for kind in TRAINED]
        cells += [time_left(takes), *([gibibytes(takes.memory)] * has_memory)]
        table.add_row(*(Text(plain(cell)) for cell in cells))
    return table


def papers_of(group: Group) -> str:
    """The papers that need them."""
    return ", ".join(group.papers) or "no paper"


def _methods(group: Group) -> str:
    variants = len(group.variants)
    return f"{_some(group.methods)} + {counted(variants, 'variant')}" if variants else _some(group.methods)


def _some(names: list[str]) -> str:
    """The name, or how many there are."""
    return names[0] if len(names) == 1 else str(len(names))


def there_of(needed: list[Needed]) -> str:
    """How many of these are there; empty where there are none to be."""
    return f"{sum(each.there for each in needed)} of {len(needed)}" if needed else ""


def time_left(takes: Takes) -> str:
    """How long it takes, as far as that is known.

    >>> time_left(Takes(100, None, {"measured": 3})), time_left(Takes(100, None, {"measured": 3, "unknown": 2}))
    ('2 min', '> 2 min')
    >>> time_left(Takes(0, None, {"unknown": 2})), time_left(Takes(0, None, {}))
    ('unknown', '')
    """
    if not takes.bases or [*takes.bases] == [UNKNOWN]:
        return UNKNOWN if takes.bases else ""
    return f"{AT_LEAST} {rough(takes.seconds)}" if UNKNOWN in takes.bases else rough(takes.seconds)


def steps(outlook: WorkPlan) -> str:
    """How many of the steps before runs are there, by phase."""
    by_phase = {kind: [each for each in outlook.steps if each.kind == kind] for kind in PHASES}
    return ", ".join(f"{kind} {there_of(needed)}" for kind, needed in by_phase.items() if needed)


def steps_table(outlook: WorkPlan) -> Table:
    """The steps before runs, those of one name in one line."""
    named: dict[tuple[str, str], list[Needed]] = {}
    for each in outlook.steps:
        named.setdefault((each.kind, each.title), []).append(each)
    table = Table("phase", "what", box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("there", "time left"):
        table.add_column(name, justify="right", no_wrap=True)
    for (kind, title), needed in named.items():
        left = time_left(Takes.of(each for each in needed if not each.there))
        table.add_row(kind, Text(plain(title)), there_of(needed), left)
    return table


def total(outlook: WorkPlan) -> Iterator[str]:
    """What is left takes in all, as far as that is known, where that is known from, and what makes more of it known."""
    takes, unknown = outlook.takes, outlook.unmeasured
    if unknown < len(outlook.to_make):
        on = counted(outlook.cores, "core")
        text = f"{'At least' if unknown else 'About'} {clock(outlook.wall_seconds)} (h:mm) left on {on}"
        if outlook.gpu_seconds:
            hours = outlook.gpu_seconds / 3600
            text += f" and one GPU ({hours:,.{0 if hours >= 100 else 1}f} GPU-hours)"
        if takes.memory is not None and outlook.gpu_seconds:
            text += f", {gibibytes(takes.memory)} of its memory at most"
        yield f"{text}. Artifacts come on top."
    yield from bases(each.estimate for each in outlook.to_make if each.estimate)
    if unknown:
        yield _unknown(outlook, unknown)


def bases(estimates: Iterable[CostEstimate]) -> Iterator[str]:
    """Where times come from."""
    estimates = list(estimates)
    places: dict[str, dict[str, None]] = {}
    for estimate in estimates:
        places.setdefault(estimate.basis, {}).update(dict.fromkeys(estimate.where))
    for basis, where in places.items():
        yield f"As {basis} on {first(where, '; ')}."
    if scaled := dict.fromkeys(line for estimate in estimates for line in estimate.scaled):
        yield f"Scaled in proportion: {first(scaled, '; ')}."


def first(names: Iterable[str], separator: str) -> str:
    """The first of some names, and how many more there are."""
    names = list(names)
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return separator.join(names[:MOST]) + more


def _unknown(outlook: WorkPlan, unknown: int) -> str:
    """How much has no time, and what to do about it."""
    kinds = Counter(each.kind for each in outlook.to_make if each.estimate is None)
    some = ", ".join(counted(kinds[kind], kind.removesuffix("s"), kind) for kind in PHASES if kinds[kind])
    text = f"Of {unknown} of {len(outlook.to_make)} jobs no time is known ({some}): nothing like them was measured."
    return f"{text} `recompose timing` finds out what runs take." if kinds["runs"] else text
