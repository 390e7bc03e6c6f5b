"""A check of the allocation of replicates: what each stage of the study has seen, and what was chosen from that."""

from collections.abc import Iterable, Iterator, Sequence

from recompose.allocation.next_stage import DECIMALS, Budget
from recompose.allocation.seen import StageResults, look, processors
from recompose.allocation.stages import stage_after, stage_one, studied
from recompose.papers.declaration import Paper
from recompose.params.allocation import REMEDY, Allocation, Observation, Replicates, Stage
from recompose.report.findings import AuditReport, Finding
from recompose.report.results import StoredResults
from recompose.workspace import Workspace

NUMBERS = ("replicates", "difference", "p", "p_margin", "verdict")  # of an observation
Difference = tuple[str, str, str]  # state, place in the stage, reason


def check_allocation(work: Workspace, papers: Sequence[Paper], results: StoredResults) -> AuditReport:
    """Compute what every stage of a profile's allocation has seen, choose each stage once more, and compare.

    Args:
        work: the workspace.
        papers: all of the profile.
        results: with metrics recomputed from scores.
    """
    report, allocation, file = AuditReport(), work.params.allocation, str(work.params.chosen.allocation)
    if allocation is None:
        return report
    for track, sizes in allocation.looks.items():
        looks = results.looks(track)
        declared = list(looks.sizes) if looks else []
        if declared != sizes:
            why = f"has looks of {track} at {sizes}, and params.yaml at {declared}: they are declared before a study"
            report.findings.append(Finding("tampered", file, why, "restore the one that was changed"))
    if report.findings:
        return report
    papers = studied(allocation, papers)
    for number, stage in enumerate(allocation.stages, start=1):
        place, before = f"{file} · stage {number}", allocation.until(number - 1)
        if absent := _absent(results, before.replicates) if before.stages else 0:
            report.unchecked.append(f"{place} and those after: evaluations that are missing or not valid: {absent}")
            break
        here = processors(results, before.replicates) if before.stages else []
        if stage.processors and stage.processors != here:
            report.unchecked.append(f"{place}: {_other_processors(stage, here)}")
            seen, _ = look(StageResults(results, before.replicates), papers)
            differences = _differences_on_any_processor(stage, before, seen)
        else:
            differences = _differences(stage, _due(work, papers, results, before, stage))
        report.findings += [Finding(state, f"{place}{part}", why, REMEDY) for state, part, why in differences]
    return report


def _other_processors(stage: Stage, here: Sequence[str]) -> str:
    """Return a note on a stage that was chosen from results of other kinds of processors than those that are here."""
    there, now = (" and ".join(kinds) or "unknown processors" for kinds in (stage.processors, here))
    return (
        f"it was chosen from results of {there}; those here are of {now} and differ in rounding, which training "
        "amplifies. Verdicts are valid whatever chose their replicates"
    )


def _absent(results: StoredResults, replicates: Replicates) -> int:
    """Return the number of evaluations of these replicates that are missing or not valid."""
    until = StageResults(results, replicates)
    return sum(
        len(until.planned(track, name, benchmark)) - len(until.complete(track, name, benchmark))
        for track, counts in replicates.items()
        for benchmark in results.benchmarks(track)
        for name in counts
    )


def _due(
    work: Workspace, papers: Sequence[Paper], results: StoredResults, before: Allocation, stage: Stage
) -> Stage | None:
    """Return the stage that is chosen now after those before, given the hours of a stage."""
    if before.stages:
        return stage_after(before, results, papers, stage.hours)
    looks = {name: track.looks for name, track in work.plan.tracks.items() if track.looks}
    return stage_one(work.plan, papers, looks, before.core_seconds, stage.hours)


def _differences(stage: Stage, due: Stage | None) -> Iterator[Difference]:
    """Yield the differences between a stage and the one that is due."""
    if due is None:
        yield "tampered", "", "is not due: nothing was left to run within its hours"
        return
    seen, computed = _by_key(stage.seen), _by_key(due.seen)
    yield from _unlisted(stage.seen, due.seen)
    for key in seen:
        if key in computed and (why := _disagreement(seen[key], computed[key], NUMBERS)):
            yield "tampered", _part(key), why
    names = [(track, name) for one in (stage, due) for track, counts in one.replicates.items() for name in counts]
    for track, name in dict.fromkeys(names):
        counts = [one.replicates.get(track, {}).get(name, 0) for one in (stage, due)]
        if counts[0] != counts[1]:
            yield "tampered", f" · {track}.{name}", f"has {counts[0]} replicates; the choice gives {counts[1]}"
    if stage.too_dear != due.too_dear:
        yield "tampered", " · too_dear", f"is {stage.too_dear}; the choice gives {due.too_dear}"
    yield from _other_seconds(stage, due.core_seconds)


def _differences_on_any_processor(
    stage: Stage, before: Allocation, computed: Iterable[Observation]
) -> Iterator[Difference]:
    """Yield the differences that no other processor explains: in comparisons, in numbers of replicates, in times."""
    yield from _unlisted(stage.seen, computed)
    tested = _by_key(computed)
    for observation in stage.seen:
        due = tested.get(observation.key)
        if due and (why := _disagreement(observation, due, ("replicates",))):
            yield "tampered", _part(observation.key), why
    budget = Budget(before.core_seconds)
    added = budget.core_seconds(stage.replicates) - budget.core_seconds(before.replicates)
    yield from _other_seconds(stage, round(added, DECIMALS))


def _unlisted(listed: Iterable[Observation], computed: Iterable[Observation]) -> Iterator[Difference]:
    """Yield the comparisons that are listed and not tested, or the other way round."""
    in_file, tested = _by_key(listed), _by_key(computed)
    for key in dict.fromkeys([*in_file, *tested]):
        if key not in in_file or key not in tested:
            why = "is not listed" if key in tested else "is listed, and no claim has it or it has no test"
            yield "stale", _part(key), why


def _other_seconds(stage: Stage, core_seconds: float) -> Iterator[Difference]:
    if stage.core_seconds != core_seconds:
        yield "tampered", " · core_seconds", f"is {stage.core_seconds:g}; the replicates give {core_seconds:g}"


def _by_key(observations: Iterable[Observation]) -> dict[tuple[str, str, str], Observation]:
    return {observation.key: observation for observation in observations}


def _part(key: tuple[str, str, str]) -> str:
    paper, benchmark, comparison = key
    return f" · {paper} on {benchmark}: {comparison}"


def _disagreement(observation: Observation, due: Observation, names: Iterable[str]) -> str:
    """Return the numbers of an observation that differ from those computed now; empty if none does."""
    numbers = ((name, getattr(observation, name), getattr(due, name)) for name in names)
    return "; ".join(f"{name} is {first}; its runs give {second}" for name, first, second in numbers if first != second)
