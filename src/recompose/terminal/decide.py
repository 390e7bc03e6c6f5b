"""The output of `recompose decide`."""

from collections import Counter

from rich.console import Console
from rich.text import Text

from recompose.allocation.seen import look
from recompose.monitor.decide import following_stage
from recompose.params.allocation import Stage
from recompose.report.claims.verdicts import UNDECIDED, VERDICTS
from recompose.report.results import StoredResults
from recompose.terminal.text import pluralize, printable, rough_duration
from recompose.workspace import Workspace

ENDLESS = 1e9  # core-hours


def stage_text(stage: Stage) -> str:
    """Return a sentence on a stage that is about to run."""
    sizes = Counter(count for counts in stage.replicates.values() for count in counts.values())
    parts = [
        f"{pluralize(number, 'method or variant', 'methods and variants')} with {size} replicates"
        for size, number in sorted(sizes.items())
    ]
    counts = Counter(observation.verdict for observation in stage.seen)
    verdicts = ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
    seen = f"comparisons so far: {verdicts}; " if stage.seen else ""
    return f"{seen}next: {', '.join(parts)}; about {rough_duration(stage.core_seconds)} of one core"


def show_outcome(console: Console, work: Workspace) -> None:
    """Print the verdicts on comparisons at the end of a study, what it spent, and whether more hours can go on."""
    observations, _ = look(StoredResults(work), work.papers)
    counts = Counter(observation.verdict for observation in observations)
    lines = [f"{len(observations)} comparisons: {', '.join(f'{counts[verdict]} {verdict}' for verdict in VERDICTS)}."]
    if allocation := work.params.allocation:
        spent = sum(stage.core_seconds for stage in allocation.stages)
        stages = pluralize(len(allocation.stages), "stage")
        lines.append(
            f"{stages}, about {rough_duration(spent)} of one core; `recompose power` prices what is undecided."
        )
    if stage := following_stage(work, ENDLESS):
        needed = rough_duration(stage.core_seconds)
        lines.append(f"More --hours continue: the next looks of all that are not too dear take {needed} of one core.")
    elif counts[UNDECIDED]:
        lines.append("Those that are undecided have had their last look, or are too dear.")
    for line in lines:
        console.print(Text(printable(line)), soft_wrap=True)
