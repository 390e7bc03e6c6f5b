"""The validation and test images of a data set in the closed and in the open world: the pairs, and the candidates."""

from dataclasses import dataclass

import numpy as np

from recompose.tracks.czsl.data.pairs import Pair, PairData

EVALUATED_SPLITS = ("val", "test")
SCORED_WORLDS = (
    "closed",  # the pairs of training and of the split
    "open",  # every state with every object
)


@dataclass(frozen=True)
class World:
    """The pairs of a world, and the images of validation and test."""

    name: str  # closed or open
    pairs: list[Pair]
    seen: np.ndarray  # [pairs] bool
    training_images: np.ndarray  # [pairs], the number of training images
    primitives: np.ndarray  # [pairs, 2], the indices of state and object
    rows: dict[str, np.ndarray]  # split -> [images], positions in the data set
    targets: dict[str, np.ndarray]  # split -> [images], indices in pairs
    candidates: dict[str, np.ndarray]  # split -> [pairs] bool

    @classmethod
    def closed(cls, data: PairData) -> "World":
        """Return the world of the pairs of all splits; candidates are the pairs of training and of the images' own
        split.

        Example:
            >>> from recompose.tracks.czsl.data.pairs import Sample
            >>> pairs = {"train": [("red", "cat")], "val": [("red", "dog")], "test": [("blue", "dog")]}
            >>> data = PairData(pairs, [Sample("0.png", "red", "dog", "val"), Sample("1.png", "red", "cat", "train")])
            >>> world = World.closed(data)
            >>> world.pairs
            [('blue', 'dog'), ('red', 'cat'), ('red', 'dog')]
            >>> world.seen.tolist(), world.candidates["val"].tolist(), world.targets["val"].tolist()
            ([False, True, False], [False, True, True], [2])
            >>> len(World.open(data).pairs)
            4
        """
        return cls._build("closed", data, data.pairs, {split: data.closed_world(split) for split in EVALUATED_SPLITS})

    @classmethod
    def open(cls, data: PairData) -> "World":
        """Return the world of every state with every object, all of them candidates."""
        pairs = data.all_pairs
        return cls._build("open", data, pairs, {split: np.ones(len(pairs), dtype=bool) for split in EVALUATED_SPLITS})

    @classmethod
    def _build(cls, name: str, data: PairData, pairs: list[Pair], candidates: dict[str, np.ndarray]) -> "World":
        return cls(
            name,
            pairs,
            data.is_seen(pairs),
            np.bincount(data.targets("train", pairs), minlength=len(pairs)),
            data.indices(pairs),
            {split: data.rows(split) for split in EVALUATED_SPLITS},
            {split: data.targets(split, pairs) for split in EVALUATED_SPLITS},
            candidates,
        )
