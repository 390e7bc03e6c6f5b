"""Checks of the number of items of a suite against the published one."""

from fnmatch import fnmatchcase

from recompose.errors import DataError
from recompose.tracks.vlc.data.formats.suite_files import UNLIMITED, Limit
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import SUBTASKS

UNSETTLED = ("svo_probes/*", "vl_checklist/*/hake")  # sub-tasks whose items depend on the images that still exist
ITEMS = {  # data sets of images to classify or to retrieve are not checked
    task.name: task.items for task in SUBTASKS.values() if task.items and task.query not in ("classes", "retrieval")
}


def check_counts(suite: Suite, limit: Limit = UNLIMITED) -> None:
    """Check the number of items of each sub-task of a published suite whose number is published, up to a limit.

    Raises:
        DataError: a sub-task has more items or fewer.
    """
    if suite.form:
        return
    for name, task in suite.tasks.items():
        published = ITEMS.get(name)
        if published is None or any(fnmatchcase(name, pattern) for pattern in UNSETTLED):
            continue
        expected = min(published, limit.items or published)
        if task.count != expected:
            raise DataError(
                f"{name}: {task.count} items instead of {expected}, of the {published} that are published; "
                "restore the published annotation files and all images",
                code="wrong-count",
                place=name,
            )
