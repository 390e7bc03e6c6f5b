"""A study that gives replicates where they decide: run a stage, look at the results, choose the next one."""

from collections.abc import Callable, Iterator
from math import ceil
from pathlib import Path

from recompose.allocation.stages import stage_after, stage_one, studied
from recompose.costs import Costs
from recompose.errors import PlanError
from recompose.files import write_text
from recompose.inference.sequential import Looks
from recompose.monitor.power import replicate_recipes
from recompose.params.allocation import Allocation, PartCosts, Stage, allocation_text
from recompose.report.results import StoredResults
from recompose.workspace import Workspace

Run = Callable[[], None]  # carries out what the allocation asks for, and makes the reports


def decide(root: Path, hours: float, run: Run) -> Iterator[Stage]:
    """Run the study's stages until nothing is left to decide within the hours; yield each stage before it is run.

    What was chosen is written before it is run. So a study that was ended goes on with the same choices.

    Args:
        root: the project's folder.
        hours: the core-hours of all stages, also of those before this call, by the times written at the beginning.
        run: carries out the plan and makes the reports; raises if it fails.

    Raises:
        PlanError: the profile has no file for an allocation, no looks or too few hours, or its looks were changed.
    """
    work = Workspace(root)
    study = study_of(work)
    stage = None if study else _begin(work, hours)
    if study:
        _check_hours(study, hours)
    while True:
        if stage:
            yield stage
        run()
        stage = _continue(Workspace(root), hours)
        if stage is None:
            return


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


def study_of(work: Workspace) -> Allocation | None:
    """Return the allocation so far, or None before the first stage.

    Raises:
        PlanError: the profile has no file for one or no looks, or its looks were changed since.
    """
    allocation_path(work)
    declared, allocation = {name: list(looks.sizes) for name, looks in looks_of(work).items()}, work.params.allocation
    if allocation and declared != allocation.looks:
        place = f"profiles.{work.params.profile}"
        message = f"params.yaml: the looks of {place} were changed after the study began; restore {allocation.looks}"
        raise PlanError(message, code="changed-looks", place=place)
    return allocation


def following_stage(work: Workspace, hours: float) -> Stage | None:
    """Return the stage that follows those of the allocation, or None if these hours pay no other."""
    allocation = study_of(work)
    return stage_after(allocation, StoredResults(work), studied(allocation, work.papers), hours) if allocation else None


def _check_hours(study: Allocation, hours: float) -> None:
    """Check that the hours pay the stages that are written already, which a study carries out first.

    Raises:
        PlanError: they do not.
    """
    seconds = sum(stage.core_seconds for stage in study.stages)
    if seconds > 3600 * hours:
        needed, count = f"{ceil(seconds / 360) / 10:g}", len(study.stages)
        stages = f"the {count} stages" if count > 1 else "the stage"
        message = f"{stages} of {study.profile} written so far take {needed} core-hours: give --hours {needed} or more"
        raise PlanError(message, code="few-hours", place="--hours")


def _begin(work: Workspace, hours: float) -> Stage:
    """Write the first stage, and return it."""
    looks, costs = looks_of(work), replicate_costs(work)
    stage = stage_one(work.plan, work.papers, looks, costs, hours)
    if stage.core_seconds > 3600 * hours:
        needed = f"{ceil(stage.core_seconds / 360) / 10:g}"
        message = f"the first look of all comparisons takes {needed} core-hours: give --hours {needed} or more"
        raise PlanError(message, code="few-hours", place="--hours")
    sizes = {name: list(declared.sizes) for name, declared in looks.items()}
    allocation = Allocation(profile=work.params.profile, looks=sizes, core_seconds=costs, stages=[stage])
    write_text(allocation_path(work), allocation_text(allocation))
    return stage


def _continue(work: Workspace, hours: float) -> Stage | None:
    """Write the stage that follows, and return it."""
    allocation, stage = study_of(work), following_stage(work, hours)
    if allocation and stage:
        grown = allocation.model_copy(update={"stages": [*allocation.stages, stage]})
        write_text(allocation_path(work), allocation_text(grown))
    return stage


def replicate_costs(work: Workspace) -> PartCosts:
    """Return the expected core-seconds of a replicate: track -> method or variant -> part -> seconds.

    Raises:
        PlanError: nothing similar was ever measured.
    """
    costs: dict[str, dict[str, dict[str, float]]] = {}
    parts: dict[str, str] = {}  # digest of what the first replicate makes -> the name of that part
    known = Costs.of(work, work.plan)
    for track, plan in work.plan.tracks.items():
        for (name, _), evaluations in plan.evaluations.items():
            of_method = costs.setdefault(track, {}).setdefault(name, {})
            for recipe in replicate_recipes(evaluations[0]):
                estimate = known.estimate(recipe)
                if estimate is None:
                    message = f"no time is known for {recipe.name}: run the profile demo first"
                    raise PlanError(message, code="unknown-time", place=recipe.key)
                # variants that are the same by their content share what they make, under the name of the first
                part = parts.setdefault(recipe.digest, f"{recipe.kind} {recipe.name.partition(', seed ')[0]}")
                of_method[part] = round(estimate.seconds, 2)
    return costs
