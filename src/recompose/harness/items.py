"""The items of a suite, one by one, from stored scores: which are right, by how much, in which category, and where two
models differ. No model is run, and torch is not imported.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from recompose.console import first
from recompose.errors import DataError, PlanError
from recompose.harness.stored_evaluation import content_of, read_evaluation, require_suite, scored_part
from recompose.params.mistakes import nearest
from recompose.recipes.plan import Plan, Recipe
from recompose.tracks.vlc import VLC
from recompose.tracks.vlc.data.formats.reading import read_lines
from recompose.tracks.vlc.data.index import read_suites
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import layout_of
from recompose.tracks.vlc.suites.judges import ItemContent, Judge, judge_of
from recompose.tracks.vlc.suites.scores import FILE, has_scores, read_scores
from recompose.tracks.vlc.suites.tasks import Groups
from recompose.workspace import Workspace

SHOWN = 12  # names that an error lists
TAGS = "collapsed_tag"  # Winoground's categories, in the files of its first publication
Counts = Mapping[str, float | None]  # None: unknown


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """The outcome of an item."""

    task: str  # the sub-task, with the suite's name first
    number: int  # of the item in its sub-task, from 0
    category: str
    margin: float  # by which the item is right; below zero: by which it is wrong
    is_right: bool | None  # by the suite's rule for ties; None: graded items are neither right nor wrong
    is_tie: bool | None  # True: the true candidate and the best other one have the same score; None: unknown

    @property
    def label(self) -> str:
        """The category, unless the sub-task's name has it."""
        return "" if f"/{self.task}".endswith(f"/{self.category}") else self.category

    @property
    def word(self) -> str:
        """The outcome in a word."""
        return "graded" if self.is_right is None else "right" if self.is_right else "wrong"


def outcomes(judge: Judge, leaf: str, scores: np.ndarray, labels: Sequence[str] | None = None) -> list[ItemOutcome]:
    """Return the outcomes of a task's items that have scores, in their order.

    Args:
        judge: of the task.
        leaf: the name of the scores.
        scores: of all items.
        labels: the categories of items [items], instead of the task's own.
    """
    numbers = np.flatnonzero(has_scores(scores) & judge.judgeable(leaf))
    if not len(numbers):
        return []
    judged, categories = judge.judge(scores[numbers], numbers), labels or judge.labels
    suite = judge.suite.name
    part = leaf.removeprefix(f"{suite}/") if leaf != suite else ""
    rights = [None] * len(numbers) if judged.right is None else judged.right.tolist()
    return [
        ItemOutcome(
            leaf,
            number,
            "/".join(filter(None, (part, categories[number] if categories else ""))) or suite,
            margin,
            right,
            margin == 0 if judged.shows_ties else None,
        )
        for number, margin, right in zip(numbers.tolist(), judged.margins.tolist(), rights, strict=True)
    ]


@dataclass(frozen=True)
class ItemSheet:
    """The items of a suite with the outcomes of a model."""

    title: str  # the model
    suite: str
    outcomes: tuple[ItemOutcome, ...]  # in the order of the suite's files
    left_out: int  # items without scores, such as those of unreadable images
    meaning: str  # of a margin, in words
    root: Path  # the folder of raw files, which the paths of images are below
    contents: Mapping[str, str]  # a digest of the images and texts of each sub-task, by name
    describe: Callable[[ItemOutcome], ItemContent]

    def within(self, category: str) -> "ItemSheet":
        """Return the sheet of one category, with the categories below it: ``vg_relation`` has ``vg_relation/on``.

        Raises:
            DataError: there is no such category.
        """
        inside = tuple(outcome for outcome in self.outcomes if f"{outcome.category}/".startswith(f"{category}/"))
        if not inside:
            categories = dict.fromkeys(outcome.category for outcome in self.outcomes)
            names = dict.fromkeys(name for path in categories for name in (path.partition("/")[0], path))
            listed = ", ".join(first(names, SHOWN))
            message = f"{self.suite} has no category '{category}'{nearest(category, names)}; it has {listed}"
            raise DataError(message, code="unknown-category", place=category)
        return replace(self, outcomes=inside)


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
    return _sheet(recipe.name, scored_part(suite, scores, folder), scores, index.raw_folder(work.data))


def _evaluation(work: Workspace, name: str, seed: int | None) -> Recipe:
    """Return the evaluation of a key, or of a profile and a method."""
    profile, _, method = name.partition("/")
    if method and profile in work.params.profiles:
        plan = work.plan if profile == work.params.profile else work.plan_of(work.load(profile))
        return _evaluation_of(plan, name, method, seed)
    kind, _, key = name.removeprefix("results/").partition("/")
    if key and kind not in {recipe.kind for recipe in work.plan.recipes}:
        near = nearest(profile, work.params.profiles)
        message = f"'{name}' is no folder of a result, no evaluation's key, and no profile and method{near}"
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


@dataclass(frozen=True)
class ItemView:
    """Items of a suite by a model, or by two, with the counts of all categories in the order of the items."""

    sheets: Sequence[ItemSheet]  # one or two
    counts: Mapping[str, Counts]  # by category
    shown: Sequence[tuple[ItemOutcome, ...]]  # the outcome of an item by each model


def worst_items(sheet: ItemSheet, count: int) -> ItemView:
    """Return the items with the lowest margins, the lowest first; equal ones keep their order."""
    members: dict[str, list[ItemOutcome]] = {}
    for outcome in sheet.outcomes:
        members.setdefault(outcome.category, []).append(outcome)
    worst = sorted(sheet.outcomes, key=lambda outcome: outcome.margin)[:count]
    return ItemView(
        [sheet], {name: count_outcomes(items) for name, items in members.items()}, [(outcome,) for outcome in worst]
    )


def count_outcomes(items: Sequence[ItemOutcome]) -> Counts:
    """Return the number of items, of right ones, and of ties, which are right or wrong by the suite's rule.

    Example:
        >>> count_outcomes([ItemOutcome("t", 0, "on", 0.1, True, False), ItemOutcome("t", 1, "on", 0.0, False, True)])
        {'items': 2, 'right': 1, 'ties': 1, 'accuracy': 0.5}
    """

    rights = [item.is_right for item in items if item.is_right is not None]
    ties = [item.is_tie for item in items if item.is_tie is not None]
    return {
        "items": len(items),
        "right": sum(rights) if rights else None,
        "ties": sum(ties) if ties else None,
        "accuracy": sum(rights) / len(items) if rights else None,
    }


def differing_items(first: ItemSheet, second: ItemSheet, count: int) -> ItemView:
    """Return the items that one of two models has right and the other wrong, those with the largest gap of margins
    first.

    Raises:
        DataError: the sheets are of other items, share none, or items are neither right nor wrong.
    """
    pairs = _paired(first, second)
    counts: dict[str, dict[str, int]] = {}
    names = {(True, True): "both", (True, False): "only_first", (False, True): "only_second", (False, False): "neither"}
    for outcome, counterpart in pairs:
        category = counts.setdefault(outcome.category, dict.fromkeys(("items", *names.values()), 0))
        for name in ("items", names[bool(outcome.is_right), bool(counterpart.is_right)]):
            category[name] += 1
    differing = [pair for pair in pairs if pair[0].is_right != pair[1].is_right]
    widest = sorted(differing, key=lambda pair: -abs(pair[0].margin - pair[1].margin))[:count]
    return ItemView([first, second], counts, widest)


def _paired(first: ItemSheet, second: ItemSheet) -> list[tuple[ItemOutcome, ItemOutcome]]:
    """Return the outcomes of two models on the items that both have scores of."""
    shared = [task for task in first.contents if task in second.contents]
    if changed := [task for task in shared if first.contents[task] != second.contents[task]]:
        message = (
            f"{changed[0]}: {first.title} and {second.title} were evaluated on other items: evaluate both on the same "
            f"files, with the same --items and seed"
        )
        raise DataError(message, code="other-items", place=changed[0])
    seconds = {(outcome.task, outcome.number): outcome for outcome in second.outcomes}
    pairs = [
        (outcome, seconds[outcome.task, outcome.number])
        for outcome in first.outcomes
        if (outcome.task, outcome.number) in seconds
    ]
    if not pairs:
        message = f"{first.title} and {second.title} share no item of {first.suite}"
        raise DataError(message, code="no-items", place=first.suite)
    if any(outcome.is_right is None for outcome, _ in pairs):
        message = f"items of {first.suite} are graded, not right or wrong: two models cannot differ in them"
        raise DataError(message, code="graded-items", place=first.suite)
    return pairs
