"""A study that gives replicates where they decide: run a stage, look at the results, choose the next one."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from recompose.allocation.next_stage import Budget, first_stage, next_stage
from recompose.allocation.seen import look
from recompose.engine import Engine
from recompose.errors import PlanError
from recompose.files import write_text
from recompose.inference.sequential import Looks
from recompose.monitor.power import replicate_recipes
from recompose.params.allocation import Allocation, Stage, allocation_text
from recompose.report.results import StoredResults
from recompose.workspace import Workspace

Run = Callable[[], int]  # carries out what the allocation asks for; returns an exit code


def decide(root: Path, hours: float, run: Run) -> Iterator[Stage]:
    """Run the study's stages until nothing is left to decide within the hours; yield each stage before it is run.

    What was chosen is written before it is run. So a study that was ended goes on with the same choices.

    Args:
        root: the project's folder.
        hours: the core-hours of all stages, also of those before this call, by the times written at the beginning.
        run: carries out the plan.

    Raises:
        PlanError: the profile has no file for an allocation, no looks or too few hours, or the workflow failed.
    """
    while True:
        work = Workspace(root)
        path = allocation_path(work)
        allocation = work.params.allocation or _begin(work, hours)
        if work.params.allocation is None:
            write_text(path, allocation_text(allocation))
            yield allocation.stages[-1]
            continue
        _check_looks(work, allocation)
        if work.missing(work.plan.recipes) and (code := run()):
            raise PlanError(
                f"the workflow ended with exit code {code}: see results/logs/; the same command continues",
                code="failed-stage",
                place=str(path),
            )
        stage = _next(work, allocation, hours)
        if stage is None:
            return
        grown = allocation.model_copy(update={"stages": [*allocation.stages, stage]})
        write_text(path, allocation_text(grown))
        yield stage


def allocation_path(work: Workspace) -> Path:
    """Return the path of the profile's allocation file.

    Raises:
        PlanError: the profile has none.
    """
    place = f"profiles.{work.params.profile}.allocation"
    if work.params.chosen.allocation is None:
        message = f"params.yaml: {place} names no file; RECOMPOSE_PROFILE=study chooses a profile that has one"
        raise PlanError(message, code="no-allocation", place=place)
    return work.root / work.params.chosen.allocation


def looks_of(work: Workspace) -> dict[str, Looks]:
    """Return the declared looks of each track of the profile.

    Raises:
        PlanError: a track has none.
    """
    looks = {name: track.looks for name, track in work.plan.tracks.items()}
    for name, declared in looks.items():
        if declared is None:
            place = f"profiles.{work.params.profile}.{name}.looks"
            raise PlanError(f"params.yaml: {place} is missing: declare the looks first", code="no-looks", place=place)
    return {name: declared for name, declared in looks.items() if declared}


def _check_looks(work: Workspace, allocation: Allocation) -> None:
    declared = {name: list(looks.sizes) for name, looks in looks_of(work).items()}
    if declared != allocation.looks:
        place = f"profiles.{work.params.profile}"
        message = f"params.yaml: the looks of {place} were changed after the study began; restore {allocation.looks}"
        raise PlanError(message, code="changed-looks", place=place)


def _begin(work: Workspace, hours: float) -> Allocation:
    """Return the allocation of the first stage."""
    looks, names = looks_of(work), dict[str, set[str]]()
    for paper in work.papers:
        names.setdefault(paper.track, set()).update(name for claim in paper.claims.values() for name in claim.methods)
    planned = {track: {name for name, _ in work.plan.tracks[track].evaluations} for track in names}
    costs = replicate_costs(Engine(work))
    stage = first_stage({track: names[track] & planned[track] for track in names}, looks, Budget(costs))
    if stage.core_seconds > 3600 * hours:
        needed = f"{stage.core_seconds / 3600:.1f}"
        message = f"the first look of all comparisons takes {needed} core-hours: give --hours {needed} or more"
        raise PlanError(message, code="few-hours", place="--hours")
    return Allocation(
        profile=work.params.profile,
        looks={name: list(declared.sizes) for name, declared in looks.items()},
        core_seconds={
            track: {name: dict(parts) for name, parts in members.items()} for track, members in costs.items()
        },
        stages=[stage],
    )


def replicate_costs(engine: Engine) -> Mapping[str, Mapping[str, Mapping[str, float]]]:
    """Return the expected core-seconds of a replicate: track -> method or variant -> part -> seconds.

    Raises:
        PlanError: nothing similar was ever measured.
    """
    costs: dict[str, dict[str, dict[str, float]]] = {}
    for track, plan in engine.work.plan.tracks.items():
        for (name, _), evaluations in plan.evaluations.items():
            parts = costs.setdefault(track, {}).setdefault(name, {})
            for recipe in replicate_recipes(evaluations[0]):
                estimate = engine.estimate(recipe)
                if estimate is None:
                    message = f"no time is known for {recipe.name}: run the profile demo first, or `recompose timing`"
                    raise PlanError(message, code="unknown-time", place=recipe.key)
                parts[_part(recipe.kind, recipe.name)] = round(estimate.seconds, 2)
    return costs


def _part(kind: str, name: str) -> str:
    """Return the name of a part of a replicate, which all who share it have."""
    return f"{kind} {name.rpartition(', seed ')[0] or name}"


def _next(work: Workspace, allocation: Allocation, hours: float) -> Stage | None:
    spent = sum(stage.core_seconds for stage in allocation.stages)
    observations, undecided = look(StoredResults(work), work.papers)
    stage = next_stage(
        undecided, looks_of(work), allocation.replicates, Budget(allocation.core_seconds), 3600 * hours - spent
    )
    return stage and stage.model_copy(update={"seen": observations})
