"""Stored evaluations of ``recompose evaluate``, and the check that two of them are of the same items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ValidationError
from safetensors import SafetensorError

from recompose.console import first
from recompose.digest import digest, sha256_file
from recompose.errors import DataError
from recompose.harness.evaluation import FEW
from recompose.harness.named_suites import ALL
from recompose.params.mistakes import nearest
from recompose.tracks.vlc.data.index import SUITES
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.scores import FILE, read_scores
from recompose.tracks.vlc.suites.tasks import Task
from recompose.tracks.vlc.suites.values import check

RESULTS = "results.json"


class EvaluationResult(BaseModel):
    """The parts of ``results.json`` that other commands read."""

    model: str
    weights: dict[str, str | None]  # without a name: a function of the user's own that was called without any
    alpha: float = 1.0
    suites: list[str]
    metrics: dict[str, float]
    items: dict[str, dict[str, int]]  # by the names of scores
    files: dict[str, str] = {}  # the digests of scores and items

    @classmethod
    def read(cls, folder: Path) -> "EvaluationResult":
        """Read the result in a folder.

        Raises:
            DataError: the file is absent, damaged, or of another form.
        """
        path = folder / RESULTS
        try:
            return cls.model_validate_json(path.read_text(encoding="utf-8"))
        except OSError as error:
            near = nearest(folder.name, [result.parent.name for result in folder.parent.glob(f"*/{RESULTS}")])
            message = f"{path}: {error.strerror}: name a folder of `recompose evaluate --out`{near}"
            raise DataError(message, code="no-result", place=path) from None
        except (UnicodeDecodeError, ValidationError):
            message = f"{path} is not as `recompose evaluate` writes it: evaluate again"
            raise DataError(message, code="damaged-result", place=path) from None

    @property
    def title(self) -> str:
        """The model and its weights."""
        name = self.weights.get("name")
        return f"{self.model}{f' with {name}' if name else ''}" + (f", alpha {self.alpha:g}" if self.alpha != 1 else "")


@dataclass(frozen=True)
class StoredEvaluation:
    """The scores of a model, and the items that they are of."""

    name: str
    folder: Path
    suites: Mapping[str, Suite]
    scores: Mapping[str, np.ndarray]

    @property
    def tasks(self) -> list[str]:
        """The names of all sub-tasks."""
        return [name for suite in self.suites.values() for name in suite.tasks]


def read_evaluation(folder: Path, suites: Sequence[str], name: str = "") -> StoredEvaluation:
    """Read some suites of the evaluation in a folder.

    Args:
        folder: of an evaluation.
        suites: names of suites, or ``ALL``.
        name: of the evaluation; empty: its model and weights.

    Raises:
        DataError: it lacks a suite, is no evaluation, or its files are damaged or of an older version.
    """
    result = EvaluationResult.read(folder)
    for suite in suites:
        if suite != ALL:
            require_suite(suite, result.suites, folder)
    chosen = [suite for suite in result.suites if ALL in suites or suite in suites]
    try:
        items = [Suite.read(folder / SUITES / f"{suite}.json") for suite in chosen]
        scores = read_scores(folder / FILE)
    except (OSError, ValueError, LookupError, TypeError, SafetensorError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        message = f"{folder}: scores and items cannot be read ({reason}): evaluate again with this --out"
        raise DataError(message, code="damaged-evaluation", place=folder) from None
    for file, sha256 in result.files.items():  # another evaluation may be writing them
        if (folder / file).is_file() and sha256_file(folder / file) != sha256:
            message = f"{folder / file} is not of {folder / RESULTS}: it was written later; repeat the evaluation"
            raise DataError(message, code="other-files", place=folder / file)
    check(items)
    scored = {suite.name: scored_part(suite, scores, folder) for suite in items}
    return StoredEvaluation(name or result.title, folder, scored, scores)


def read_evaluations(folders: Sequence[Path], suites: Sequence[str] = (ALL,)) -> list[StoredEvaluation]:
    """Read the evaluations in these folders, named after them; see ``read_evaluation``.

    Raises:
        DataError: a folder is named twice, or an evaluation cannot be read.
    """
    resolved = [folder.resolve() for folder in folders]
    if twice := [folder for place, folder in enumerate(resolved) if folder in resolved[:place]]:
        raise DataError(f"{twice[0]} is named twice: a model cannot differ from itself", code="same", place=twice[0])
    short = [folder.name for folder in resolved]
    names = short if len({*short}) == len(short) else [str(folder) for folder in folders]
    return [read_evaluation(folder, suites, name) for name, folder in zip(names, folders, strict=True)]


def require_suite(name: str, names: Sequence[str], place: object) -> None:
    """Check that a suite is among those of an evaluation.

    Raises:
        DataError: it is not.
    """
    if name not in names:
        message = f"{place} has no suite '{name}'{nearest(name, names)}; it has {', '.join(names)}"
        raise DataError(message, code="unknown-suite", place=f"{place}: {name}")


def scored_part(suite: Suite, scores: Mapping[str, np.ndarray], folder: Path) -> Suite:
    """Return a suite with the tasks that have scores.

    Raises:
        DataError: it has none, or scores and tasks have other items.
    """
    tasks = {name: task for name, task in suite.tasks.items() if all(leaf in scores for leaf in task.leaves(name))}
    for leaf, shape in ((leaf, task.shape(leaf)) for name, task in tasks.items() for leaf in task.leaves(name)):
        if scores[leaf].shape != shape:
            fault = f"the scores in {folder / FILE} are {scores[leaf].shape}, its items ask for {shape}"
            raise DataError(f"{leaf}: {fault}: evaluate again", code="other-files", place=leaf)
    if not tasks:
        raise DataError(f"{folder / FILE} has no scores of {suite.name}", code="no-scores", place=suite.name)
    return replace(suite, tasks=tasks)


def digests(folder: Path, suites: Sequence[Suite]) -> dict[str, str]:
    """Return the digests of an evaluation's scores and items, by their paths in its folder."""
    names = (FILE, *(f"{SUITES}/{suite.name}.json" for suite in suites))
    return {name: sha256_file(folder / name) for name in names}


def shared_suites(evaluations: Sequence[StoredEvaluation]) -> tuple[list[Suite], tuple[str, ...]]:
    """Return the suites that all of two or more evaluations have, with the sub-tasks that all have, and notes about the
    others.

    Raises:
        DataError: nothing is shared, or a sub-task has other items.
    """
    baseline, *models = evaluations
    shared = set.intersection(*({*evaluation.tasks} for evaluation in evaluations))
    if not shared:
        folders = " and ".join(str(evaluation.folder) for evaluation in evaluations)
        raise DataError(f"{folders} have no sub-task in common", code="missing-suite", place=baseline.folder)
    suites = [
        replace(suite, tasks={name: task for name, task in suite.tasks.items() if name in shared})
        for suite in baseline.suites.values()
        if shared & suite.tasks.keys()
    ]
    for suite in suites:
        for evaluation in models:
            _check_same_items(suite, baseline, evaluation)
    notes = tuple(
        f"not compared, as {evaluation.name} alone has them: {', '.join(first(alone, FEW))}"
        for evaluation in evaluations
        if (alone := [name for name in evaluation.tasks if name not in shared])
    )
    return suites, notes


def _check_same_items(suite: Suite, baseline: StoredEvaluation, other: StoredEvaluation) -> None:
    """Check that two evaluations have the same items, in the same order.

    Raises:
        DataError: a sub-task has other items.
    """
    theirs = other.suites[suite.name]
    for name, task in suite.tasks.items():
        if content_of(suite, task) != content_of(theirs, theirs.tasks[name]):
            sizes = f"{task.count} in {baseline.folder}, {theirs.tasks[name].count} in {other.folder}"
            message = (
                f"{name} has other items ({sizes}): evaluate both models on the same files with the same --items, "
                f"or leave out {suite.name} by --suites"
            )
            raise DataError(message, code="other-items", place=name)


def content_of(suite: Suite, task: Task) -> str:
    """Return the digest of what a task's items ask, with images and texts in place of their numbers."""
    pictures = [str((picture.path, picture.box, picture.squeezed)) for picture in suite.images]
    images, texts = (np.array([*names, ""], dtype=object) for names in (pictures, suite.texts))  # the last: ABSENT's
    return digest([suite.form, *(array.tolist() for array in task.questions(images, texts))])
