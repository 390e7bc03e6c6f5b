"""Whether a suite that was read has as many items as are published of it."""

from recompose.errors import DataError
from recompose.tracks.vlc.data.suite import Choices, Similarity, Suite, Task
from recompose.tracks.vlc.suites.catalogue import ITEMS, SIMILARITIES

UNSETTLED = ("svo_probes",)  # suites of which everybody has as many items as images could be downloaded when they tried


def check_counts(suite: Suite) -> None:
    """Check the number of items of each sub-task that one is published of.

    Raises:
        DataError: a sub-task has more items or fewer, or is missing.
    """
    if suite.name in UNSETTLED:
        return
    found = {name: _items(task) for name, task in suite.tasks.items()}
    for name, published in (ITEMS | SIMILARITIES).items():
        if name.split("/")[0] == suite.name and found.get(name, 0) != published:
            raise DataError(
                f"{name}: {found.get(name, 0)} items instead of the {published} that are published; "
                "put the published annotation files in place, and all images"
            )


def _items(task: Task) -> int:
    match task:
        case Choices():
            return len(task.asked)
        case Similarity():
            return len(task.graded)
    return len(task.images)
