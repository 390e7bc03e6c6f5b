"""Sheets of the items of a suite, from the stored scores of an evaluation. No model is run."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from safetensors import SafetensorError

from recompose.digest import digest
from recompose.errors import DataError
from recompose.harness.evaluation_result import RESULTS, EvaluationResult
from recompose.harness.item_contents import describe
from recompose.harness.item_outcomes import MEANINGS, leaves, outcomes
from recompose.harness.items import ItemContent, ItemOutcome, ItemSheet
from recompose.harness.stored_evaluation import check_files
from recompose.params.mistakes import nearest
from recompose.tracks.vlc.data.formats.reading import read_lines
from recompose.tracks.vlc.data.formats.suite_files import Limit
from recompose.tracks.vlc.data.index import SUITES, read_suites
from recompose.tracks.vlc.data.suite import Choices, Classes, Groups, Pool, Similarity, Suite, Task, Triplets
from recompose.tracks.vlc.data.suites_on_disk import FORMS, layout_of, read_suite
from recompose.tracks.vlc.suites.metric_values import check, metrics
from recompose.tracks.vlc.suites.scores import FILE, has_scores, read_scores

INDEXES = "suites-"  # the roles of indexes of suites among an evaluation's needs
TAGS = "collapsed_tag"  # Winoground's categories, in the files of its first publication


def evaluated_sheet(folder: Path, name: str, data: Path) -> ItemSheet:
    """Return the items of a suite in a folder that ``recompose evaluate`` wrote.

    Args:
        folder: the folder.
        name: the suite.
        data: the folder of the suites' raw files, for captions and images.

    Raises:
        DataError: the folder holds no such result, or the suite's files are absent, or not those that were evaluated.
    """
    result = EvaluationResult.read(folder)
    _require(name, result.suites, str(folder))
    suite = _published_suite(name, result, data) if name in FORMS else _own_suite(name, folder)
    scores = _read_scores(folder)
    check_files(folder, result.files)
    suite = _scored_part(suite, scores, folder)
    _check_numbers(suite, scores, result.metrics, folder, data)
    return _sheet(result.title, suite, scores, data)


def _published_suite(name: str, result: EvaluationResult, data: Path) -> Suite:
    """Return a published suite from its raw files.

    Raises:
        DataError: these are absent, or broken.
    """
    if not (data / name).is_dir():
        message = f"there is no {data / name}: captions are read from the suite's files; name their folder by --data"
        raise DataError(message, code="missing-suite", place=data / name)
    return read_suite(name, data, limit=Limit(result.largest_items))


def _own_suite(name: str, folder: Path) -> Suite:
    """Return a suite of the user's own from the items that its evaluation stored.

    Raises:
        DataError: they are absent or damaged, or there is no rule for ties.
    """
    path = folder / SUITES / f"{name}.json"
    try:
        suite = Suite.read(path)
    except (OSError, ValueError, LookupError, TypeError):
        message = f"{path} is absent or damaged: evaluate again with --out {folder}"
        raise DataError(message, code="damaged-evaluation", place=path) from None
    check([suite])
    return suite


def stored_sheet(
    title: str, evaluation: Path, needs: Mapping[str, Path], roots: Mapping[str, Path], name: str
) -> ItemSheet:
    """Return the items of a suite in an evaluation of the workflow.

    Args:
        title: of the evaluation.
        evaluation: its folder.
        needs: the folders of its needs by role, among them indexes of suites.
        roots: the folder of raw files of each index, by role.
        name: the suite.

    Raises:
        DataError: the evaluation has no such suite.
    """
    found = {
        suite.name: (suite, roots[role])
        for role, index in needs.items()
        if role.startswith(INDEXES)
        for suite in read_suites(index)
    }
    _require(name, found, title)
    suite, root = found[name]
    scores = _read_scores(evaluation)
    return _sheet(title, _scored_part(suite, scores, evaluation), scores, root)


def _read_scores(folder: Path) -> dict[str, np.ndarray]:
    try:
        return read_scores(folder / FILE)
    except (OSError, ValueError, SafetensorError) as error:
        message = f"{folder / FILE} holds no scores ({' '.join(str(error).split())}): evaluate again"
        raise DataError(message, code="damaged-scores", place=folder / FILE) from None


def _require(name: str, names: Sequence[str] | Mapping[str, object], place: str) -> None:
    if name not in names:
        message = f"{place} has no suite '{name}'{nearest(name, names)}; it has {', '.join(names)}"
        raise DataError(message, code="unknown-suite", place=name)


def _scored_part(suite: Suite, scores: Mapping[str, np.ndarray], folder: Path) -> Suite:
    """Return a suite with the tasks that have scores, after a check that scores and tasks have the same items."""
    tasks = {name: task for name, task in suite.tasks.items() if all(leaf in scores for leaf in leaves(name, task))}
    for name, task in tasks.items():
        for leaf in leaves(name, task):
            if scores[leaf].shape != (shape := _shape(task, leaf)):
                message = (
                    f"{leaf}: the scores in {folder / FILE} are {scores[leaf].shape}, the suite's files ask for "
                    f"{shape}: these are not the files that were evaluated; name their folder by --data"
                )
                raise DataError(message, code="other-files", place=leaf)
    if not tasks:
        raise DataError(f"{folder / FILE} has no scores of {suite.name}", code="no-scores", place=suite.name)
    return replace(suite, tasks=tasks)


def _shape(task: Task, leaf: str) -> tuple[int, ...]:
    """Return the shape of a task's scores, see ``scores.task_scores``."""
    match task:
        case Choices():
            return task.offered.shape
        case Groups():
            return len(task.images), 2, 2
        case Triplets():
            return len(task.images), 6
        case Classes():
            return len(task.images), len(task.names)
        case Pool():
            return (len(task.images if leaf.endswith("/i2t") else task.texts),)
        case Similarity():
            return (len(task.graded),)


def _check_numbers(
    suite: Suite, scores: Mapping[str, np.ndarray], stored: Mapping[str, float], folder: Path, data: Path
) -> None:
    """Check that the scores give the stored numbers on these files: otherwise the files' true candidates differ."""
    for name, number in metrics([suite], scores).items():
        if name in stored and not math.isclose(number, stored[name], rel_tol=1e-9, abs_tol=1e-12):
            message = (
                f"{name} is {number:.6f} on the files in {data / suite.name}, and {stored[name]:.6f} in "
                f"{folder / RESULTS}: these are not the files that were evaluated"
            )
            raise DataError(message, code="other-files", place=name)


def _sheet(title: str, suite: Suite, scores: Mapping[str, np.ndarray], root: Path) -> ItemSheet:
    scored = {leaf: name for name, task in suite.tasks.items() for leaf in leaves(name, task)}
    labels = _winoground_tags(suite, root)

    def content(outcome: ItemOutcome) -> ItemContent:
        return describe(suite, scored[outcome.task], outcome.task, scores[outcome.task], outcome.number)

    judged = [outcome for leaf, name in scored.items() for outcome in outcomes(suite, name, leaf, scores[leaf], labels)]
    left_out = sum(int((~has_scores(scores[leaf])).sum()) for leaf in scored)
    meaning = "; ".join(dict.fromkeys(MEANINGS[type(task)] for task in suite.tasks.values()))
    return ItemSheet(title, suite.name, tuple(judged), left_out, meaning, root, _contents(suite), content)


def _contents(suite: Suite) -> dict[str, str]:
    """Return a digest of each task's items, by the names of its scores."""
    images = [[picture.path, picture.box, picture.squeezed] for picture in suite.images]
    shared = digest([images, suite.texts])
    digests: dict[str, str] = {}
    for name, task in suite.tasks.items():
        fields = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in vars(task).items()}
        digests |= dict.fromkeys(leaves(name, task), digest([shared, fields]))
    return digests


def _winoground_tags(suite: Suite, root: Path) -> list[str] | None:
    """Return the categories of Winoground's items, where its file has them: Object, Relation or Both."""
    path, task = root / suite.name / "examples.jsonl", suite.tasks.get(suite.name)
    if "winoground" not in (suite.name, suite.form) or not isinstance(task, Groups) or not path.is_file():
        return None
    tags = [item.fields.get(TAGS) for item in read_lines(path, layout_of("winoground"))]
    return [str(tag) for tag in tags] if len(tags) == len(task.images) and all(tags) else None
