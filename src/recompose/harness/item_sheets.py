"""Sheets of the items of a suite, from stored scores: of a folder of ``recompose evaluate``, or of an evaluation of the
workflow. No model is run.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from recompose.console import first
from recompose.errors import DataError, PlanError
from recompose.harness.items import ItemOutcome, ItemSheet, outcomes
from recompose.harness.stored_evaluation import content_of, read_evaluation, require_suite, scored_part
from recompose.params.mistakes import nearest
from recompose.plan import Plan, Recipe
from recompose.tracks.vlc import VLC
from recompose.tracks.vlc.data.formats.reading import read_lines
from recompose.tracks.vlc.data.index import read_suites
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import layout_of
from recompose.tracks.vlc.suites.judges import ItemContent, judge_of
from recompose.tracks.vlc.suites.scores import FILE, has_scores, read_scores
from recompose.tracks.vlc.suites.tasks import Groups
from recompose.workspace import Workspace, plan_of

SHOWN = 12  # names that an error lists
TAGS = "collapsed_tag"  # Winoground's categories, in the files of its first publication


def item_sheet(work: Workspace, name: str, suite: str, data: Path, seed: int | None = None) -> ItemSheet:
    """Return the items of a suite in a stored evaluation.

    Args:
        work: the project, for evaluations of the workflow.
        name: a folder of ``recompose evaluate``; the first characters of an evaluation's key or digest; or a profile
            and a method or variant, ``demo/negclip``.
        suite: the suite.
        data: the folder of the suites' raw files, for results of ``recompose evaluate``.
        seed: of a method's evaluation. Default: the first.

    Raises:
        DataError: there is no such result, or it cannot be read.
        PlanError, UnknownError: there is no such profile, method or evaluation.
        DamagedError: a stored file was changed.
    """
    folder, results = Path(name).resolve(), work.results.resolve()
    is_stored = folder.is_relative_to(results / "evaluations")
    if not (work.root / "params.yaml").is_file() or (folder.is_dir() and not is_stored):
        evaluation = read_evaluation(Path(name), [suite])
        return _sheet(evaluation.name, evaluation.suites[suite], evaluation.scores, data)
    recipe = _evaluation(work, str(folder.relative_to(results)) if is_stored else name, seed)
    if not work.store.is_complete(recipe):
        message = f"{recipe.key} ({recipe.name}) is not there: `recompose make {recipe.key}` makes it, in its profile"
        raise DataError(message, code="missing-result", place=recipe.key)
    return _stored_sheet(work, recipe, suite)


def _stored_sheet(work: Workspace, recipe: Recipe, name: str) -> ItemSheet:
    """Return the items of a suite in a complete evaluation of the workflow."""
    suites: dict[str, tuple[Suite, Recipe]] = {}
    work.store.verify(recipe)
    for need in recipe.needs.values():
        if need.kind == "data":
            work.store.verify(need)
            suites |= {suite.name: (suite, need) for suite in read_suites(work.store.folder(need))}
    require_suite(name, list(suites), recipe.name)
    (suite, index), folder = suites[name], work.store.folder(recipe)
    scores = read_scores(folder / FILE)
    return _sheet(
        recipe.name, scored_part(suite, scores, folder), scores, work.catalogue[VLC.name].root(index, work.data)
    )


def _evaluation(work: Workspace, name: str, seed: int | None) -> Recipe:
    """Return the evaluation of a key, or of a profile and a method."""
    profile, _, method = name.partition("/")
    if method and profile in work.params.profiles:
        plan = work.plan if profile == work.params.profile else plan_of(work.load(profile), catalogue=work.catalogue)
        return _evaluation_of(plan, name, method, seed)
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


def _evaluation_of(plan: Plan, name: str, method: str, seed: int | None) -> Recipe:
    """Return the evaluation of a method or variant with a seed."""
    planned = [recipe for recipe in plan.of("evaluations") if recipe.track == VLC.name]
    named = [recipe for recipe in planned if recipe.labels["name"] == method]
    if not named:
        names = list(dict.fromkeys(str(recipe.labels["name"]) for recipe in planned))
        message = (
            f"{name}: there is no method '{method}'{nearest(method, names)}; there is {', '.join(first(names, SHOWN))}"
        )
        raise PlanError(message, code="unknown-method", place=method)
    chosen_seed = named[0].labels["seed"] if seed is None else seed
    chosen = [recipe for recipe in named if recipe.labels["seed"] == chosen_seed]
    if len(chosen) != 1:
        keys = ", ".join(f"{recipe.key} (seed {recipe.labels['seed']})" for recipe in chosen or named)
        message = f"{name} has {len(chosen)} evaluations with the seed {chosen_seed}: give one of {keys}"
        raise PlanError(message, code="ambiguous-key" if chosen else "unknown-seed", place=method)
    return chosen[0]


def _sheet(title: str, suite: Suite, scores: Mapping[str, np.ndarray], root: Path) -> ItemSheet:
    judges = {leaf: judge_of(suite, name) for name, task in suite.tasks.items() for leaf in task.leaves(name)}
    labels = _winoground_tags(suite, root)

    def content(outcome: ItemOutcome) -> ItemContent:
        leaf = outcome.task
        return judges[leaf].content(leaf, scores[leaf][outcome.number], outcome.number)

    judged = [outcome for leaf, judge in judges.items() for outcome in outcomes(judge, leaf, scores[leaf], labels)]
    left_out = sum(int((~has_scores(scores[leaf])).sum()) for leaf in judges)
    meaning = "; ".join(dict.fromkeys(judge.MEANING for judge in judges.values()))
    contents = {leaf: content_of(suite, task) for name, task in suite.tasks.items() for leaf in task.leaves(name)}
    return ItemSheet(title, suite.name, tuple(judged), left_out, meaning, root, contents, content)


def _winoground_tags(suite: Suite, root: Path) -> list[str] | None:
    """Return the categories of Winoground's items, where its file has them: Object, Relation or Both."""
    path, task = root / suite.name / "examples.jsonl", suite.tasks.get(suite.name)
    if "winoground" not in (suite.name, suite.form) or not isinstance(task, Groups) or not path.is_file():
        return None
    tags = [item.fields.get(TAGS) for item in read_lines(path, layout_of("winoground"))]
    return [str(tag) for tag in tags] if len(tags) == len(task.images) and all(tags) else None
