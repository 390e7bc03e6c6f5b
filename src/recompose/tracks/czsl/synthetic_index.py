"""An index for a few steps of training: as many states, objects and pairs as a data set has, and few images."""

from itertools import product
from pathlib import Path
from random import Random

from recompose.plan import Recipe
from recompose.tracks.catalogue import load_adapter
from recompose.tracks.czsl.catalogue import ADAPTERS
from recompose.tracks.czsl.data.pairs import Pair, PairData, Sample, Statistics


def write_synthetic_index(recipe: Recipe, folder: Path, images: int) -> None:
    """Write an index into a folder.

    Args:
        recipe: of the data set that it stands for.
        folder: where to.
        images: to train on; those of validation are in the data set's proportion to them.
    """
    invented_index(counts_of(recipe), images).write(folder)


def counts_of(recipe: Recipe) -> Statistics:
    """What a data set should hold."""
    adapter = load_adapter(ADAPTERS, recipe.document)
    counts: Statistics = (
        adapter.expected(recipe.document["images"]) if "images" in recipe.document else adapter.STATISTICS
    )
    return counts


def invented_index(counts: Statistics, images: int) -> PairData:
    """Pairs of invented words, seen and unseen ones as many as there are, and images of them."""
    pairs = _pairs(counts.states, counts.objects)
    train, unseen = pairs[: counts.train_pairs], pairs[counts.train_pairs :]
    val, test = slice(None, counts.val_unseen), slice(counts.val_unseen, counts.val_unseen + counts.test_unseen)
    of_split = {
        "train": train,
        "val": [*train[: counts.val_seen], *unseen[val]],
        "test": [*train[: counts.test_seen], *unseen[test]],
    }
    validation = max(2, round(images * counts.val_images / counts.train_images))
    shown = [of_split["val"][place] for place in (0, -1)]  # a seen and an unseen one, without which nothing is measured
    samples = [
        *(Sample(f"images/{number}.png", *train[number % len(train)], "train") for number in range(images)),
        *(Sample(f"images/val-{number}.png", *shown[number % 2], "val") for number in range(validation)),
    ]
    return PairData(of_split, samples)


def _pairs(states: int, objects: int) -> list[Pair]:
    """All pairs, those first that together show every state and every object."""
    cover = [(index % states, index % objects) for index in range(max(states, objects))]
    others = sorted(set(product(range(states), range(objects))) - set(cover))
    Random(0).shuffle(others)
    return [(f"s{state}", f"o{name}") for state, name in [*cover, *others]]
