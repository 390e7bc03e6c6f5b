"""Checks of the number of items of a suite against the published one."""

from recompose.errors import DataError
from recompose.tracks.vlc.data.suite import Choices, Similarity, Suite, Task
from recompose.tracks.vlc.suites.catalogue import ITEMS, SIMILARITIES

UNSETTLED = ("svo_probes",)  # suites whose number of items depends on the images that could be downloaded


def check_counts(suite: Suite) -> None:
    """Check the number of items of each sub-task of a published suite whose number is published.

    Raises:
        DataError: a sub-task has more items or fewer.
    """
    if suite.form or suite.name in UNSETTLED:
        return
    published = ITEMS | SIMILARITIES
    for name, task in suite.tasks.items():
        if (items := _items(task)) != published.get(name, items):
            raise DataError(
                f"{name}: {items} items instead of the {published[name]} that are published; "
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
