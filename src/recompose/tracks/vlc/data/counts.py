"""Checks of the number of items of a suite against the published one."""

from fnmatch import fnmatchcase

from recompose.errors import DataError
from recompose.tracks.vlc.data.formats.suite_files import UNLIMITED, Limit
from recompose.tracks.vlc.data.suite import Choices, Similarity, Suite, Task
from recompose.tracks.vlc.suites.catalogue import ITEMS, SIMILARITIES

UNSETTLED = ("svo_probes/*", "vl_checklist/*/hake")  # sub-tasks whose items depend on the images that still exist


def check_counts(suite: Suite, limit: Limit = UNLIMITED) -> None:
    """Check the number of items of each sub-task of a published suite whose number is published, up to a limit.

    Raises:
        DataError: a sub-task has more items or fewer.
    """
    if suite.form:
        return
    published = ITEMS | SIMILARITIES
    for name, task in suite.tasks.items():
        if name not in published or any(fnmatchcase(name, pattern) for pattern in UNSETTLED):
            continue
        items, expected = _items(task), min(published[name], limit.items or published[name])
        if items != expected:
            raise DataError(
                f"{name}: {items} items instead of {expected}, of the {published[name]} that are published; "
                "restore the published annotation files and all images",
                code="wrong-count",
                place=name,
            )


def _items(task: Task) -> int:
    match task:
        case Choices():
            return len(task.asked)
        case Similarity():
            return len(task.graded)
    return len(task.images)
