"""Sub-tasks: what is known of them beyond their files, and the names of their metrics.

A suite declares its sub-tasks in its module of ``data/formats``. Items are the published counts, which annotation files
and the released tables of models are checked against. The rule for ties is that of a suite's released code; if the code
leaves it open, or there is none, a tie is wrong. This module does not import NumPy.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from recompose.tracks.vlc.suites.ranks import Ties

# a caption for an image, an image for a caption, pairs of both, two captions for an image, a class for an image, either
# among all of a set, and grades of two texts
Query = Literal["i2t", "t2i", "group", "triplet", "classes", "retrieval", "similarity"]
WAYS: tuple[Literal["i2t"], Literal["t2i"]] = ("i2t", "t2i")  # of retrieval
RECALLS = (1, 5, 10)
SENSES: Mapping[str, tuple[str, ...]] = {  # other numbers of a sub-task, by its query
    "group": ("text", "image"),
    "triplet": ("first", "second", "text_only"),
    "retrieval": tuple(f"{way}/r{k}" for way in WAYS for k in RECALLS),
    "similarity": ("pearson",),
}


@dataclass(frozen=True)
class SubTask:
    """A set of items with a number of its own."""

    name: str
    query: Query
    items: int | None = None  # None: no published count; of a data set of classes or retrieval, the number of images
    candidates: int | None = None  # of an item, or captions and images of a group; None: items differ, or unknown
    ties: "Ties" = "first"
    group_minimum: int | None = None  # ARO: the mean over groups of at least so many items; None: over items
    groups: tuple[str, ...] = ()  # groups of items with numbers of their own
    captions: int | None = None  # of retrieval
    metric: Literal["accuracy", "mean-per-class", "11point_mAP", "roc_auc"] = "accuracy"  # of classes
    centre_crop: bool = True  # of images to classify; otherwise they are squeezed

    @property
    def suite(self) -> str:
        """The name of the suite."""
        return self.name.split("/")[0]

    @property
    def leaves(self) -> tuple[str, ...]:
        """The names of its scores, and of its own numbers."""
        return tuple(f"{self.name}/{way}" for way in WAYS) if self.query == "retrieval" else (self.name,)

    def metric_names(self) -> tuple[str, ...]:
        """Return the names of all its numbers.

        Example:
            >>> SubTask("winoground", "group").metric_names()
            ('winoground', 'winoground/text', 'winoground/image')
        """
        senses = (*SENSES.get(self.query, ()), *self.groups)
        return (*self.leaves, *(f"{self.name}/{sense}" for sense in senses))


def subtasks(
    suite: str, items: Mapping[str, int | None], query: Query, candidates: int | None, ties: "Ties", **others: Any
) -> Iterator[SubTask]:
    """Yield the sub-tasks of a suite that differ in their numbers of items alone, given by their names in the suite."""
    for name, count in items.items():
        yield SubTask(f"{suite}/{name}", query, count, candidates, ties, **others)
