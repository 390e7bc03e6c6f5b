"""The items of stored evaluations: of a folder of ``recompose evaluate``, or of the workflow."""

from pathlib import Path

from recompose.errors import DataError, PlanError
from recompose.harness.evaluation import listed
from recompose.harness.item_sheets import evaluated_sheet, stored_sheet
from recompose.harness.items import ItemSheet
from recompose.params.mistakes import nearest
from recompose.plan import Plan, Recipe
from recompose.tracks import TRACKS
from recompose.tracks.vlc import VLC
from recompose.workspace import Workspace, plan_of


def item_sheet(root: Path, name: str, suite: str, data: Path, seed: int | None = None) -> ItemSheet:
    """Return the items of a suite in a stored evaluation.

    Args:
        root: the folder of a project, for evaluations of the workflow.
        name: a folder of ``recompose evaluate``; the first characters of an evaluation's key or digest; or a profile
            and a method or variant, ``demo/negclip``.
        suite: the suite.
        data: the folder of the suites' raw files, for results of ``recompose evaluate``.
        seed: of a method's evaluation. Default: the first.

    Raises:
        DataError: there is no such result, or it cannot be read.
        PlanError, ChangedError: there is no such profile, method or evaluation.
        DamagedError: a stored file was changed.
    """
    folder, work = Path(name), Workspace(root)
    is_stored = folder.resolve().is_relative_to(work.results.resolve() / "evaluations")
    if not (root / "params.yaml").is_file() or (folder.is_dir() and not is_stored):
        return evaluated_sheet(folder, suite, data)
    recipe = _evaluation(work, str(folder.resolve().relative_to(work.results.resolve())) if is_stored else name, seed)
    if not work.store.is_complete(recipe):
        message = f"{recipe.key} ({recipe.name}) is not there: `recompose make {recipe.key}` makes it, in its profile"
        raise DataError(message, code="missing-result", place=recipe.key)
    indexes = {role: need for role, need in recipe.needs.items() if need.kind == "data"}
    for stored in (recipe, *indexes.values()):
        work.store.verify(stored)
    return stored_sheet(
        recipe.name,
        work.store.folder(recipe),
        {role: work.store.folder(need) for role, need in indexes.items()},
        {role: TRACKS[VLC.name].root(need, work.data) for role, need in indexes.items()},
        suite,
    )


def _evaluation(work: Workspace, name: str, seed: int | None) -> Recipe:
    """Return the evaluation of a key, or of a profile and a method."""
    profile, _, method = name.partition("/")
    if method and profile in work.params.profiles:
        plan = work.plan if profile == work.params.profile else plan_of(work.load(profile), catalogue=work.catalogue)
        return _evaluation_of(plan, profile, method, seed)
    kind, _, key = name.removeprefix("results/").partition("/")
    if key and kind not in {recipe.kind for recipe in work.plan.recipes}:
        hint = nearest(profile, work.params.profiles) if profile else ""
        message = f"'{name}' is no folder of a result, no evaluation's key, and no profile and method{hint}"
        raise PlanError(message, code="unknown-profile", place=name)
    recipe = work.recipe(name)
    if recipe.kind != "evaluations" or recipe.track != VLC.name:
        message = f"{recipe.key} ({recipe.name}) is no evaluation on suites of images and captions"
        raise PlanError(message, code="no-suites", place=name)
    return recipe


def _evaluation_of(plan: Plan, profile: str, method: str, seed: int | None) -> Recipe:
    """Return the evaluation of a method or variant with a seed."""
    planned = [recipe for recipe in plan.of("evaluations") if recipe.track == VLC.name]
    named = [recipe for recipe in planned if recipe.labels["name"] == method]
    if not named:
        names = list(dict.fromkeys(str(recipe.labels["name"]) for recipe in planned))
        message = f"profile {profile} has no method '{method}'{nearest(method, names)}; it has {listed(names)}"
        raise PlanError(message, code="unknown-method", place=method)
    seeds = [recipe.labels["seed"] for recipe in named]
    wanted = seeds[0] if seed is None else seed
    chosen = [recipe for recipe in named if recipe.labels["seed"] == wanted]
    if not chosen:
        message = f"{profile}/{method} has no seed {seed}; it has {', '.join(map(str, dict.fromkeys(seeds)))}"
        raise PlanError(message, code="unknown-seed", place=seed)
    if len(chosen) > 1:
        keys = ", ".join(recipe.key for recipe in chosen)
        message = f"{profile}/{method} has {len(chosen)} evaluations: give one of {keys}"
        raise PlanError(message, code="ambiguous-key", place=method)
    return chosen[0]
