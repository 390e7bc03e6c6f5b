"""How runs and evaluations, and what they take, look in a terminal: by papers, or by method and data set."""

from rich.table import Table
from rich.text import Text

from recompose.costs import UNKNOWN
from recompose.engine import TRAINED
from recompose.monitor.outlook import Group, Needed, Outlook, Takes
from recompose.phases import PHASES
from recompose.terminal.text import counted, gibibytes, plain, spoken

FEW = 2  # names that are said in place of their number


def groups_table(outlook: Outlook, *, every: bool) -> Table:
    """What is there of what is asked for, and what the rest takes.

    Args:
        outlook: what it is about.
        every: a line for each method and data set, in place of one for all that the same papers need.
    """
    groups = outlook.by_method if every else outlook.by_papers
    table = Table(box=None, pad_edge=False)
    for name in ("papers", "methods", "data sets"):
        table.add_column(name)
    for name in (*TRAINED, "time left"):
        table.add_column(name, justify="right")
    has_memory = any(group.takes.memory is not None for group in groups)
    if has_memory:
        table.add_column("memory", justify="right")
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
    methods, variants = _some(group.methods), len(group.variants)
    return f"{methods}, {counted(variants, 'variant')}" if variants else methods


def _some(names: list[str]) -> str:
    """Few names, or how many there are."""
    return ", ".join(names) if len(names) <= FEW else str(len(names))


def there_of(needed: list[Needed]) -> str:
    """How many of these are there; empty where there are none to be."""
    return f"{sum(each.there for each in needed)} of {len(needed)}" if needed else ""


def time_left(takes: Takes) -> str:
    """How long it takes, and from where that is known.

    >>> time_left(Takes(90, None, {"measured": 3}))
    '0:01:30 measured'
    >>> time_left(Takes(90, None, {"measured": 3, "unknown": 2}))
    '0:01:30 (3 measured, 2 unknown)'
    >>> time_left(Takes(0, None, {"unknown": 2}))
    'unknown'
    """
    bases = takes.bases
    if not bases:
        return ""
    if len(bases) > 1:
        return f"{spoken(takes.seconds)} ({', '.join(f'{count} {basis}' for basis, count in bases.items())})"
    (basis,) = bases
    return UNKNOWN if basis == UNKNOWN else f"{spoken(takes.seconds)} {basis}"


def steps(outlook: Outlook) -> str:
    """How many of the steps before runs are there, by phase."""
    by_phase = {kind: [each for each in outlook.steps if each.kind == kind] for kind in PHASES}
    return ", ".join(f"{kind} {there_of(needed)}" for kind, needed in by_phase.items() if needed)


def steps_table(outlook: Outlook) -> Table:
    """The steps before runs, those of one name in one line."""
    named: dict[tuple[str, str], list[Needed]] = {}
    for each in outlook.steps:
        named.setdefault((each.kind, each.title), []).append(each)
    table = Table("phase", "what", box=None, pad_edge=False)
    for name in ("there", "time left"):
        table.add_column(name, justify="right")
    for (kind, title), needed in named.items():
        left = time_left(Takes.of(each for each in needed if not each.there))
        table.add_row(kind, Text(plain(title)), there_of(needed), left)
    return table


def total(outlook: Outlook) -> str:
    """What is left takes in all, as far as that is known, and where that is known from."""
    takes, unknown = outlook.takes, outlook.unmeasured
    if unknown == len(outlook.to_make):
        return "How long it takes is unknown: nothing like it was measured."
    on = counted(outlook.cores, "core")
    text = f"About {spoken(outlook.wall_seconds)} from start to end on {on}"
    if outlook.gpu_seconds:
        text += f" and one GPU ({outlook.gpu_seconds / 3600:.1f} GPU-hours)"
    if takes.memory is not None and outlook.gpu_seconds:
        text += f", {gibibytes(takes.memory)} of memory at most"
    if unknown:
        text += f"; what {unknown} of the {len(outlook.to_make)} jobs take is unknown, and not in it"
    return f"{text}. Artifacts come on top."
