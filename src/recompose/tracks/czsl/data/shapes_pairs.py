"""shapes-pairs: a synthetic data set of state-object pairs, as long-tailed and as incomplete as UT-Zappos."""

from pathlib import Path
from random import Random

from recompose.drawing.objects import draw_object, finished, ground
from recompose.tracks.czsl.data import compositional
from recompose.tracks.czsl.data.pairs import SPLITS, Pair, PairData, Sample, Statistics
from recompose.tracks.czsl.data.words import OBJECT_LABELS, STATE_LABELS

SEEN = 83
UNSEEN = {"val": 15, "test": 18}  # and as many seen pairs
DRAWN = {label: name for name, label in (STATE_LABELS | OBJECT_LABELS).items()}  # what to draw for a label


def choose_pairs(seed: int) -> dict[str, list[Pair]]:
    """The pairs of each split. Training shows every state and every object; val and test share no unseen pair."""
    rng = Random(f"pairs/{seed}")
    pairs = [(state, name) for state in STATE_LABELS.values() for name in OBJECT_LABELS.values()]
    rng.shuffle(pairs)
    cover = _cover(pairs)
    train = [*cover, *(pair for pair in pairs if pair not in cover)][:SEEN]
    unseen = [pair for pair in pairs if pair not in train]
    seen = rng.sample(train, sum(UNSEEN.values()))
    split = UNSEEN["val"]
    test = slice(split, split + UNSEEN["test"])
    return {"train": train, "val": [*seen[:split], *unseen[:split]], "test": [*seen[test], *unseen[test]]}


def _cover(pairs: list[Pair]) -> list[Pair]:
    """The first pairs that show a state or an object not shown by those before."""
    shown: set[str] = set()
    cover = []
    for state, name in pairs:
        if not {state, name} <= shown:
            cover.append((state, name))
            shown |= {state, name}
    return cover


def _labels(pairs: list[Pair], images: int, rng: Random) -> list[Pair]:
    """A label for each image: every pair once, then by a long tail over the pairs in random order."""
    order = rng.sample(pairs, len(pairs))
    weights = [1 / (rank + 4) for rank in range(len(order))]
    return [*order, *rng.choices(order, weights, k=images - len(order))][:images]


def _draw(path: Path, pair: Pair, rng: Random) -> None:
    picture = ground(rng)
    centre = (32 + rng.randrange(-6, 7), 32 + rng.randrange(-6, 7))
    draw_object(picture, DRAWN[pair[1]], (DRAWN[pair[0]],), centre, 19 + rng.randrange(9), rng)
    path.parent.mkdir(parents=True, exist_ok=True)
    finished(picture).save(path, "png", compress_level=1)


def draw(root: Path, *, seed: int, images: dict[str, int]) -> None:
    """Draw the data set into ``root``, in the benchmarks' format. The same seed gives the same bytes."""
    pairs = choose_pairs(seed)
    samples = []
    for split in SPLITS:
        for index, pair in enumerate(_labels(pairs[split], images[split], Random(f"labels/{seed}/{split}"))):
            path = f"images/{'_'.join(pair)}/{split}-{index:05d}.png"
            _draw(root / path, pair, Random(f"image/{seed}/{split}/{index}"))
            samples.append(Sample(path, *pair, split))
    compositional.write(root, PairData(pairs, samples))


def expected(images: dict[str, int]) -> Statistics:
    """The counts that a synthetic data set has."""
    return Statistics(
        states=len(STATE_LABELS),
        objects=len(OBJECT_LABELS),
        train_pairs=SEEN,
        train_images=images["train"],
        val_seen=UNSEEN["val"],
        val_unseen=UNSEEN["val"],
        val_images=images["val"],
        test_seen=UNSEEN["test"],
        test_unseen=UNSEEN["test"],
        test_images=images["test"],
    )


def read(root: Path, images: dict[str, int]) -> PairData:
    """Read and check a synthetic data set."""
    return compositional.read(root, expected(images))
