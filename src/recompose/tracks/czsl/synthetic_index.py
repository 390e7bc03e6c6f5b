"""An index for a few steps of training, with a data set's numbers of states, objects and pairs, and few images."""

from itertools import product
from pathlib import Path
from random import Random

from recompose.plan import Recipe
from recompose.tracks.catalogue import load_adapter
from recompose.tracks.czsl.catalogue import ADAPTERS
from recompose.tracks.czsl.data.pairs import Pair, PairData, Sample, Statistics


def write_synthetic_index(recipe: Recipe, folder: Path, images: int) -> None:
    """Write a synthetic index into a folder.

    Args:
        recipe: of the data set that the index imitates.
        folder: the folder of the index.
        images: the number of training images; validation images are in the data set's proportion to them.
    """
    invented_index(counts_of(recipe), images).write(folder)


def counts_of(recipe: Recipe) -> Statistics:
    """Return the counts that a data set should have."""
    adapter = load_adapter(ADAPTERS, recipe.document)
    counts: Statistics = (
        adapter.expected(recipe.document["images"]) if "images" in recipe.document else adapter.STATISTICS
    )
    return counts


def invented_index(counts: Statistics, images: int) -> PairData:
    """Return pairs of invented words, in the data set's numbers of seen and unseen ones, and images of them."""
    pairs = _pairs(counts.states, counts.objects)
    train, unseen = pairs[: counts.train_pairs], pairs[counts.train_pairs :]
    val, test = slice(None, counts.val_unseen), slice(counts.val_unseen, counts.val_unseen + counts.test_unseen)
    pairs_of = {
        "train": train,
        "val": [*train[: counts.val_seen], *unseen[val]],
        "test": [*train[: counts.test_seen], *unseen[test]],
    }
    validation = max(2, round(images * counts.val_images / counts.train_images))
    validated = [pairs_of["val"][position] for position in (0, -1)]  # validation needs a seen and an unseen pair
    samples = [
        *(Sample(f"images/{number}.png", *train[number % len(train)], "train") for number in range(images)),
        *(Sample(f"images/val-{number}.png", *validated[number % 2], "val") for number in range(validation)),
    ]
    return PairData(pairs_of, samples)


def _pairs(states: int, objects: int) -> list[Pair]:
    """Return all pairs, beginning with pairs that together show every state and every object."""
    cover = [(index % states, index % objects) for index in range(max(states, objects))]
    remaining = sorted(set(product(range(states), range(objects))) - set(cover))
    Random(0).shuffle(remaining)
    return [(f"s{state}", f"o{name}") for state, name in [*cover, *remaining]]
