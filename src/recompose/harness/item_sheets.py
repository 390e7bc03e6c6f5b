"""Sheets of the items of a suite, from the stored scores of an evaluation. No model is run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from safetensors import SafetensorError

from recompose.digest import digest
from recompose.errors import DataError
from recompose.harness.evaluation_result import EvaluationResult
from recompose.harness.items import ItemOutcome, ItemSheet, outcomes
from recompose.harness.stored_evaluation import check_files
from recompose.params.mistakes import nearest
from recompose.tracks.vlc.data.formats.reading import read_lines
from recompose.tracks.vlc.data.index import SUITES, read_suites
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import layout_of
from recompose.tracks.vlc.suites.judges import ItemContent, judge_of
from recompose.tracks.vlc.suites.scores import FILE, has_scores, read_scores
from recompose.tracks.vlc.suites.tasks import Groups
from recompose.tracks.vlc.suites.values import check

INDEXES = "suites-"  # the roles of indexes of suites among an evaluation's needs
TAGS = "collapsed_tag"  # Winoground's categories, in the files of its first publication


def evaluated_sheet(folder: Path, name: str, data: Path) -> ItemSheet:
    """Return the items of a suite in a folder that ``recompose evaluate`` wrote.

    Args:
        folder: the folder.
        name: the suite.
        data: the folder of the suites' raw files, for images.

    Raises:
        DataError: the folder holds no such result, or its files are damaged or of another evaluation.
    """
    result = EvaluationResult.read(folder)
    _require(name, result.suites, str(folder))
    suite, scores = _stored_suite(name, folder), _read_scores(folder)
    check_files(folder, result.files)
    return _sheet(result.title, _scored_part(suite, scores, folder), scores, data)


def _stored_suite(name: str, folder: Path) -> Suite:
    """Return a suite from the items that its evaluation stored.

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
    tasks = {name: task for name, task in suite.tasks.items() if all(leaf in scores for leaf in task.leaves(name))}
    for name, task in tasks.items():
        for leaf in task.leaves(name):
            if scores[leaf].shape != (shape := task.shape(leaf)):
                message = (
                    f"{leaf}: the scores in {folder / FILE} are {scores[leaf].shape}, its items ask for {shape}: "
                    "evaluate again"
                )
                raise DataError(message, code="other-files", place=leaf)
    if not tasks:
        raise DataError(f"{folder / FILE} has no scores of {suite.name}", code="no-scores", place=suite.name)
    return replace(suite, tasks=tasks)


def _sheet(title: str, suite: Suite, scores: Mapping[str, np.ndarray], root: Path) -> ItemSheet:
    judges = {leaf: judge_of(suite, name) for name, task in suite.tasks.items() for leaf in task.leaves(name)}
    labels = _winoground_tags(suite, root)

    def content(outcome: ItemOutcome) -> ItemContent:
        leaf = outcome.task
        return judges[leaf].content(leaf, scores[leaf][outcome.number], outcome.number)

    judged = [outcome for leaf, judge in judges.items() for outcome in outcomes(judge, leaf, scores[leaf], labels)]
    left_out = sum(int((~has_scores(scores[leaf])).sum()) for leaf in judges)
    meaning = "; ".join(dict.fromkeys(judge.MEANING for judge in judges.values()))
    return ItemSheet(title, suite.name, tuple(judged), left_out, meaning, root, _contents(suite), content)


def _contents(suite: Suite) -> dict[str, str]:
    """Return a digest of each task's items, by the names of its scores."""
    images = [[picture.path, picture.box, picture.squeezed] for picture in suite.images]
    shared = digest([images, suite.texts])
    digests: dict[str, str] = {}
    for name, task in suite.tasks.items():
        digests |= dict.fromkeys(task.leaves(name), digest([shared, task.document()]))
    return digests


def _winoground_tags(suite: Suite, root: Path) -> list[str] | None:
    """Return the categories of Winoground's items, where its file has them: Object, Relation or Both."""
    path, task = root / suite.name / "examples.jsonl", suite.tasks.get(suite.name)
    if "winoground" not in (suite.name, suite.form) or not isinstance(task, Groups) or not path.is_file():
        return None
    tags = [item.fields.get(TAGS) for item in read_lines(path, layout_of("winoground"))]
    return [str(tag) for tag in tags] if len(tags) == len(task.images) and all(tags) else None
