"""The stages of a study, each chosen from stored scores at the stage before."""

from collections.abc import Iterable, Mapping

from recompose.allocation.next_stage import Budget, first_stage, next_stage
from recompose.allocation.seen import StageResults, look, processors
from recompose.inference.sequential import Looks
from recompose.papers.declaration import Paper
from recompose.params.allocation import Allocation, PartCosts, Stage
from recompose.plan import Plan
from recompose.report.results import StoredResults


def studied(allocation: Allocation | None, papers: Iterable[Paper]) -> list[Paper]:
    """Return the papers and comparisons that a study is about: a comparison that was declared later is not.

    Args:
        allocation: of the study; None: it begins now.
        papers: of the profile.
    """
    if allocation is None:
        return list(papers)
    seen = {observation.paper for stage in allocation.stages for observation in stage.seen}
    first = {(track, name) for track, counts in allocation.stages[0].replicates.items() for name in counts}

    def takes_part(paper: Paper) -> bool:
        if not paper.is_comparison:
            return True
        methods = {(paper.track, name) for claim in paper.claims.values() for name in claim.methods}
        return paper.name in seen if seen else methods <= first

    return [paper for paper in papers if takes_part(paper)]


def stage_one(plan: Plan, papers: Iterable[Paper], looks: Mapping[str, Looks], costs: PartCosts, hours: float) -> Stage:
    """Return the first stage: the methods and variants of all claims at their first look.

    Args:
        plan: of the profile.
        papers: of its tracks.
        looks: of each track.
        costs: of a replicate.
        hours: the core-hours of the study.
    """
    names: dict[str, set[str]] = {}
    for paper in papers:
        names.setdefault(paper.track, set()).update(name for claim in paper.claims.values() for name in claim.methods)
    planned = {track: {name for name, _ in plan.tracks[track].evaluations} for track in names}
    return first_stage({track: names[track] & planned[track] for track in names}, looks, Budget(costs), hours)


def stage_after(allocation: Allocation, results: StoredResults, papers: Iterable[Paper], hours: float) -> Stage | None:
    """Return the stage that follows an allocation, with what was seen at its last stage; None if the study is over.

    Args:
        allocation: its stages so far.
        results: of the profile, at its last stage or after.
        papers: of its tracks.
        hours: the core-hours of the whole study.
    """
    observations, undecided = look(StageResults(results, allocation.replicates), papers)
    looks = {track: Looks(tuple(sizes)) for track, sizes in allocation.looks.items()}
    stage = next_stage(undecided, looks, Budget(allocation.core_seconds), allocation.stages, hours)
    seen_on = processors(results, allocation.replicates)
    return stage and stage.model_copy(update={"seen": observations, "processors": seen_on})
