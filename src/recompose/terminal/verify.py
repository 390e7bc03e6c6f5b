"""The output of `recompose verify`."""

import os
from collections import Counter
from collections.abc import Iterator
from math import floor

from rich.console import Console

from recompose.console import escape_markup, pluralize
from recompose.inference.retraining import DIFFERENT, WORDS
from recompose.monitor.verify import UNEQUAL, Sample, Verification
from recompose.provenance.rerun import BYTES, OTHER_MACHINE, OUTCOMES, RerunComparison
from recompose.provenance.sampling import WRONG

BUSY = 1.0  # load of a machine that is not idle
SHOWN = 10  # differing numbers of a run that are listed


def opening(sample: Sample, processes: int) -> str:
    """Return a sentence on what will be made again, and how long that takes."""
    runs = f"{len(sample.runs)} of {sample.total} runs"
    how = f"the runs behind {sample.cell}" if sample.cell else f"drawn by the seed {sample.seed}"
    workers = "1 process" if processes == 1 else f"{processes} processes"
    seconds, load = f"about {sample.seconds / 60:.1f} minutes with {workers}", os.getloadavg()[0]
    busy = f", which has a load of {load:.1f}: expect longer" if load > BUSY else ""
    return f"{runs}, {how}, are made again from nothing: {seconds} on an otherwise idle machine{busy}"


def show_verification(console: Console, verification: Verification) -> None:
    """Print what differs, and then the sentence that sums it up."""
    for comparison in verification.comparisons:
        for line in _lines(comparison):
            console.print(escape_markup(line), soft_wrap=True, highlight=False)
    for key, origin in verification.pulled.items():
        console.print(escape_markup(f"{key} was pulled from {origin}, not made"), soft_wrap=True)
    if verification.others:
        made = ", ".join(pluralize(count, kind.removesuffix("s")) for kind, count in verification.others.items())
        console.print(f"also made again, for these runs: {made}", highlight=False)
    if verification.folder:
        console.print(escape_markup(f"the new results are in {verification.folder}"), soft_wrap=True)
    console.print(f"[bold]{escape_markup(sentence(verification))}[/bold]", soft_wrap=True, highlight=False)


def _lines(comparison: RerunComparison) -> Iterator[str]:
    """Yield a line for a run that differs or could not be made, and for each file and number that differ."""
    if comparison.outcome in (BYTES, OTHER_MACHINE):
        return
    yield f"{comparison.name} ({comparison.run}): {comparison.outcome}"
    if comparison.fault:
        yield f"  {comparison.fault}"
    for difference in comparison.files:
        machines = "".join(f"; {fact}" for fact in difference.machines)
        yield f"  {difference.source}: {', '.join(difference.files)} of {difference.key} differ{machines}"
    differing = [number for number in comparison.numbers if number.word == DIFFERENT]
    for number in differing[:SHOWN]:
        yield f"  {number.artifact} {number.place}: {number.then:.4f} in the reports, {number.now:.4f} now"
    if len(differing) > SHOWN:
        yield f"  and {len(differing) - SHOWN} more numbers"


def sentence(verification: Verification) -> str:
    """Return what the verification shows, in one or two sentences."""
    sample, outcomes = verification.sample, verification.outcomes
    scope = f"of {sample.total} runs" if sample.seed else f"runs behind {sample.cell}"
    late = f" ({verification.unmade} more were drawn, but the time was over)" if verification.unmade else ""
    runs = f"{len(verification.comparisons)} {scope} made again{late}"
    if verification.exit_code == UNEQUAL:
        parts = [f"{outcomes[name]} {name}" for name in OUTCOMES if outcomes[name]]
        return f"{runs}: {', '.join(parts)}.{_unmeasured(verification)}"
    result = _on_another_machine(verification) if outcomes[OTHER_MACHINE] else "all equal to the byte"
    return f"{runs}: {result}.{_unmeasured(verification)}{_chance(verification)}"


def _on_another_machine(verification: Verification) -> str:
    """Return the result where another machine explains other bytes: the numbers are compared."""
    words = sum((comparison.words for comparison in verification.comparisons), Counter[str]())
    counts = ", ".join(f"{words[word]:,} {word}" for word in WORDS if words[word])
    outcomes, facts = verification.outcomes, "; ".join(_machines(verification))
    return (
        f"{outcomes[BYTES]} equal to the byte, {outcomes[OTHER_MACHINE]} with {OTHER_MACHINE} ({facts}). "
        f"{words.total():,} numbers: {counts}"
    )


def _machines(verification: Verification) -> list[str]:
    """Return the differences between machines, each once."""
    differences = [difference for comparison in verification.comparisons for difference in comparison.files]
    return list(dict.fromkeys(fact for difference in differences for fact in difference.machines))


def _unmeasured(verification: Verification) -> str:
    """Return a note where another machine made other bytes, and nobody measured what retraining moves."""
    if verification.has_spreads or not _machines(verification):
        return ""
    return " What retraining moves was not measured: `recompose retraining` does. So only last digits may differ."


def _chance(verification: Verification) -> str:
    """Return the sentence on the probability of detection; empty where nothing was drawn."""
    if verification.detection is None:
        return ""
    scale = "retraining moves numbers" if verification.has_spreads else "last digits"
    beyond = f" by more than {scale}" if verification.outcomes[OTHER_MACHINE] else ""
    percent = floor(100 * verification.detection)
    return f" Had {100 * WRONG} % of runs been wrong{beyond}, this would have been seen with {percent} % probability."
