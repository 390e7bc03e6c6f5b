"""Stored evaluations of ``recompose evaluate``, and the check that two of them are of the same items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from safetensors import SafetensorError

from recompose.digest import sha256_file
from recompose.errors import DataError
from recompose.files import read_json
from recompose.harness.evaluation import ALL, FEW, listed
from recompose.harness.evaluation_result import RESULTS
from recompose.params.mistakes import nearest
from recompose.tracks.vlc.data.index import SUITES
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.scores import FILE, read_scores
from recompose.tracks.vlc.suites.tasks import Task
from recompose.tracks.vlc.suites.values import check, counts


@dataclass(frozen=True)
class StoredEvaluation:
    """The scores of a model, and the items that they are of."""

    name: str
    folder: Path
    suites: Mapping[str, Suite]
    scores: Mapping[str, np.ndarray]


def read_evaluations(folders: Sequence[Path]) -> list[StoredEvaluation]:
    """Read the evaluations in these folders, named after them.

    Raises:
        DataError: a folder is named twice, is no evaluation, or its files are damaged or of an older version.
    """
    resolved = [folder.resolve() for folder in folders]
    if twice := [folder for place, folder in enumerate(resolved) if folder in resolved[:place]]:
        raise DataError(f"{twice[0]} is named twice: a model cannot differ from itself", code="same", place=twice[0])
    short = [folder.name for folder in resolved]
    names = short if len({*short}) == len(short) else [str(folder) for folder in folders]
    return [_read(name, folder) for name, folder in zip(names, folders, strict=True)]


def _read(name: str, folder: Path) -> StoredEvaluation:
    if absent := [file for file in (RESULTS, FILE) if not (folder / file).is_file()]:
        there = [path.parent.name for path in folder.parent.glob(f"*/{RESULTS}")]
        message = (
            f"{folder} has no {absent[0]}: name a folder of `recompose evaluate --out`{nearest(folder.name, there)}"
        )
        raise DataError(message, code="no-evaluation", place=folder)
    if not (folder / SUITES).is_dir():
        message = f"{folder} has no {SUITES}/, as its items were not stored: evaluate again with the same --out"
        raise DataError(message, code="no-items", place=folder / SUITES)
    try:
        results = read_json(folder / RESULTS)  # the folder may have files of an earlier evaluation
        suites = {suite: Suite.read(folder / SUITES / f"{suite}.json") for suite in results["suites"]}
        scores = read_scores(folder / FILE)
        check_files(folder, results.get("files", {}))
        counts([*suites.values()], scores)
    except (OSError, ValueError, LookupError, TypeError, SafetensorError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        message = f"{folder}: scores and items cannot be read or do not fit ({reason}): evaluate again with this --out"
        raise DataError(message, code="damaged-evaluation", place=folder) from None
    check(suites.values())
    return StoredEvaluation(name, folder, suites, scores)


def digests(folder: Path, suites: Sequence[Suite]) -> dict[str, str]:
    """Return the digests of an evaluation's scores and items, by their paths in its folder."""
    names = (FILE, *(f"{SUITES}/{suite.name}.json" for suite in suites))
    return {name: sha256_file(folder / name) for name in names}


def check_files(folder: Path, written: Mapping[str, str]) -> None:
    """Check that the files that are there are those of the results, since another evaluation may be writing them.

    Args:
        folder: of the evaluation.
        written: the digests of files in its results, which were read before the files; empty for an older evaluation.

    Raises:
        DataError: a file is of another evaluation, which is under way or did not end.
    """
    for name, sha256 in written.items():
        if (folder / name).is_file() and sha256_file(folder / name) != sha256:
            message = f"{folder / name} is not of {folder / RESULTS}: it was written later; repeat the evaluation"
            raise DataError(message, code="other-files", place=folder / name)


def shared_suites(
    evaluations: Sequence[StoredEvaluation], requested: Sequence[str]
) -> tuple[list[Suite], tuple[str, ...]]:
    """Return the suites that all evaluations have, with the sub-tasks that all have, and notes about the others.

    Args:
        evaluations: two or more.
        requested: names of suites, or ``ALL``.

    Raises:
        DataError: a requested suite is absent from an evaluation, nothing is shared, or a sub-task has other items.
    """
    first, *others = evaluations
    for evaluation in evaluations:
        for name in requested:
            if name not in (ALL, *evaluation.suites):
                hint = nearest(name, evaluation.suites)
                message = f"{evaluation.folder} has no suite '{name}'{hint}; it has: {', '.join(evaluation.suites)}"
                raise DataError(message, code="missing-suite", place=evaluation.folder)
    chosen = [suite for name, suite in first.suites.items() if ALL in requested or name in requested]
    suites = [shared for suite in chosen if (shared := _shared(suite, others))]
    if not suites:
        folders = " and ".join(str(evaluation.folder) for evaluation in evaluations)
        raise DataError(f"{folders} have no sub-task in common", code="missing-suite", place=first.folder)
    for suite in suites:
        for other in others:
            _check_same_items(suite, first, other)
    tasks = {name for suite in suites for name in suite.tasks}
    return suites, tuple(note for evaluation in evaluations if (note := _unshared(evaluation, tasks, requested)))


def _shared(suite: Suite, others: Sequence[StoredEvaluation]) -> Suite | None:
    """Return a suite with the sub-tasks that the others have too; None without any."""
    tasks = {
        name: task
        for name, task in suite.tasks.items()
        if all(suite.name in other.suites and name in other.suites[suite.name].tasks for other in others)
    }
    return replace(suite, tasks=tasks) if tasks else None


def _unshared(evaluation: StoredEvaluation, shared: set[str], requested: Sequence[str]) -> str:
    """Return a note about the sub-tasks of an evaluation that are not compared; empty without any."""
    suites = (suite for suite in evaluation.suites.values() if ALL in requested or suite.name in requested)
    names = [name for suite in suites for name in suite.tasks if name not in shared]
    return f"not compared, as {evaluation.name} alone has them: {listed(names, FEW)}" if names else ""


def _check_same_items(suite: Suite, first: StoredEvaluation, other: StoredEvaluation) -> None:
    """Check that two evaluations have the same items, in the same order.

    Raises:
        DataError: a sub-task has other items.
    """
    theirs = other.suites[suite.name]
    for name, task in suite.tasks.items():
        items, their_items = _questions(suite, task), _questions(theirs, theirs.tasks[name])
        if theirs.form != suite.form or not _are_equal(items, their_items):
            sizes = f"{len(items[0])} in {first.folder}, {len(their_items[0])} in {other.folder}"
            message = (
                f"{name} has other items ({sizes}): evaluate both models on the same files with the same --items, "
                f"or leave out {suite.name} by --suites"
            )
            raise DataError(message, code="other-items", place=name)


def _are_equal(items: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> bool:
    return len(items) == len(others) and all(
        np.array_equal(one, other) for one, other in zip(items, others, strict=True)
    )


def _questions(suite: Suite, task: Task) -> list[np.ndarray]:
    """Return what an item asks, with images and texts in place of their numbers: arrays [items, ...]."""
    pictures = [str((picture.path, picture.box, picture.squeezed)) for picture in suite.images]
    images, texts = (np.array([*names, ""], dtype=object) for names in (pictures, suite.texts))  # the last: ABSENT's
    return task.questions(images, texts)
