"""The common format of a data set of state-object pairs (CZSL), whatever its format on disk."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from recompose.data.pictures import Picture
from recompose.files import read_csv, read_json, write_csv, write_json

Pair = tuple[str, str]
SPLITS = ("train", "val", "test")


@dataclass(frozen=True)
class Sample:
    """An image, by its path relative to the data set's folder, with its label and its split."""

    path: str
    state: str
    object: str
    split: str


class PairData:
    """Images labelled with a state and an object, and the pairs of each split.

    Vocabularies and pairs are sorted, as in the field's released code, so an index means the same everywhere.
    """

    def __init__(self, pairs: dict[str, list[Pair]], samples: Iterable[Sample]) -> None:
        self.pairs_of = {split: sorted(set(pairs[split])) for split in SPLITS}
        self.samples = list(samples)

    @property
    def paths(self) -> list[str]:
        """The paths of all images."""
        return [sample.path for sample in self.samples]

    @cached_property
    def pairs(self) -> list[Pair]:
        """The pairs of all splits: the candidates of the closed world."""
        return sorted({pair for split in SPLITS for pair in self.pairs_of[split]})

    @cached_property
    def states(self) -> list[str]:
        """Every state."""
        return sorted({state for state, _ in self.pairs})

    @cached_property
    def objects(self) -> list[str]:
        """Every object."""
        return sorted({name for _, name in self.pairs})

    @cached_property
    def all_pairs(self) -> list[Pair]:
        """Every state with every object: the candidates of the open world."""
        return [(state, name) for state in self.states for name in self.objects]

    def is_seen(self, pairs: Iterable[Pair]) -> np.ndarray:
        """Return which pairs [pairs] training shows."""
        seen = set(self.pairs_of["train"])
        return np.array([pair in seen for pair in pairs])

    def indices(self, pairs: Iterable[Pair]) -> np.ndarray:
        """Return pairs as the indices [pairs, 2] of their states and objects."""
        states = {name: index for index, name in enumerate(self.states)}
        objects = {name: index for index, name in enumerate(self.objects)}
        return np.array([(states[state], objects[name]) for state, name in pairs], dtype=np.int64).reshape(-1, 2)

    @cached_property
    def seen_matrix(self) -> np.ndarray:
        """The state-object combinations [states, objects] that training shows, as a mask."""
        matrix = np.zeros((len(self.states), len(self.objects)), dtype=bool)
        matrix[tuple(self.indices(self.pairs_of["train"]).T)] = True
        return matrix

    def closed_world(self, split: str) -> np.ndarray:
        """Return which of ``pairs`` [pairs] are candidates in a split: its own pairs and those of training."""
        candidates = {*self.pairs_of["train"], *self.pairs_of[split]}
        return np.array([pair in candidates for pair in self.pairs])

    def rows(self, split: str) -> np.ndarray:
        """Return the positions [images] of a split's samples."""
        return np.array([row for row, sample in enumerate(self.samples) if sample.split == split], dtype=np.int64)

    def targets(self, split: str, pairs: list[Pair]) -> np.ndarray:
        """Return the index in ``pairs`` of the label of each of a split's samples [images]."""
        position = {pair: index for index, pair in enumerate(pairs)}
        return np.array([position[s.state, s.object] for s in self.samples if s.split == split], dtype=np.int64)

    @cached_property
    def statistics(self) -> dict[str, int]:
        """The counts that papers print."""
        seen = set(self.pairs_of["train"])
        images = {split: sum(sample.split == split for sample in self.samples) for split in SPLITS}
        counts = {"states": len(self.states), "objects": len(self.objects)}
        counts |= {"train_pairs": len(seen), "train_images": images["train"]}
        for split in ("val", "test"):
            shown = sum(pair in seen for pair in self.pairs_of[split])
            counts |= {f"{split}_seen": shown, f"{split}_unseen": len(self.pairs_of[split]) - shown}
            counts[f"{split}_images"] = images[split]
        return counts | {"pairs": counts["states"] * counts["objects"]}

    def write(self, folder: Path) -> None:
        """Write ``pairs.json``, ``samples.csv`` and ``statistics.json``."""
        write_json(folder / "pairs.json", self.pairs_of)
        write_json(folder / "statistics.json", self.statistics)
        rows = ((s.path, s.state, s.object, s.split) for s in self.samples)
        write_csv(folder / "samples.csv", ("path", "state", "object", "split"), rows)

    @classmethod
    def read(cls, folder: Path) -> "PairData":
        """Read what ``write`` wrote."""
        pairs = {
            split: [(state, name) for state, name in rows] for split, rows in read_json(folder / "pairs.json").items()
        }
        return cls(pairs, (Sample(**row) for row in read_csv(folder / "samples.csv")))


@lru_cache(maxsize=16)  # the replicates' indices: evaluations are not read replicate by replicate
def read_index(folder: Path) -> PairData:
    """Return a data set's index, read once by a process."""
    return PairData.read(folder)


def pictures(folder: Path) -> list[Picture]:
    """Return the pictures of an index, in the order of pixels, features and grids."""
    return [Picture(path) for path in read_index(folder).paths]
