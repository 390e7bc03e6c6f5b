"""shapes-pairs: a synthetic data set of state-object pairs, as incomplete as UT-Zappos, and as long-tailed in training.

A seed determines a replicate: its pairs, its split and its images. Validation and test use every unseen pair, with the
same number of images of each pair, so that an accuracy does not depend on a few pairs chosen by chance.
"""

from pathlib import Path
from random import Random

from recompose.synthetic.objects import OBJECTS, STATES
from recompose.tracks.czsl.data import compositional
from recompose.tracks.czsl.data.pairs import SPLITS, Pair, PairData, Sample
from recompose.tracks.czsl.samples import draw_pair

# The words of captions, except for two that no caption has: a backbone recognises these only by their appearance.
_OWN_WORDS = {"frosted": "icy", "drop": "tear"}  # the drawing's word, also in captions -> the label here
STATE_LABELS = {name: _OWN_WORDS.get(name, name) for name in STATES}
OBJECT_LABELS = {name: _OWN_WORDS.get(name, name) for name in OBJECTS}
SEEN = {"val": 34, "test": 49}  # of the training pairs; together all
UNSEEN = {"val": 45, "test": 64}  # of the other pairs; together all
DRAWN = {label: name for name, label in (STATE_LABELS | OBJECT_LABELS).items()}  # the drawing's name of a label


def choose_pairs(seed: int) -> dict[str, list[Pair]]:
    """Return the pairs of each split. Training shows every state and every object; val and test share no pair."""
    rng = Random(f"pairs/{seed}")
    pairs = [(state, name) for state in STATE_LABELS.values() for name in OBJECT_LABELS.values()]
    rng.shuffle(pairs)
    cover = _cover(pairs)
    train = [*cover, *(pair for pair in pairs if pair not in cover)][: sum(SEEN.values())]
    unseen = [pair for pair in pairs if pair not in train]
    seen = rng.sample(train, len(train))
    val, test = slice(None, SEEN["val"]), slice(SEEN["val"], None)
    return {
        "train": train,
        "val": [*seen[val], *unseen[: UNSEEN["val"]]],
        "test": [*seen[test], *unseen[UNSEEN["val"] :]],
    }


def _cover(pairs: list[Pair]) -> list[Pair]:
    """Return the first pairs that show a state or an object that earlier pairs do not show."""
    covered: set[str] = set()
    cover = []
    for state, name in pairs:
        if not {state, name} <= covered:
            cover.append((state, name))
            covered |= {state, name}
    return cover


def _long_tail(pairs: list[Pair], images: int, rng: Random) -> list[Pair]:
    """Return a label for each image: every pair once, then by a long tail over the pairs in random order."""
    order = rng.sample(pairs, len(pairs))
    weights = [1 / (rank + 4) for rank in range(len(order))]
    return [*order, *rng.choices(order, weights, k=images - len(order))][:images]


def _flat(pairs: list[Pair], images: int, rng: Random) -> list[Pair]:
    """Return a label for each image, so that the numbers of images of any two pairs differ by at most one."""
    order = rng.sample(pairs, len(pairs))
    return [order[index % len(order)] for index in range(images)]


def _draw(path: Path, pair: Pair, rng: Random) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    draw_pair((DRAWN[pair[0]], DRAWN[pair[1]]), rng).save(path, "png", compress_level=1)


def draw(root: Path, *, seed: int, images: dict[str, int]) -> None:
    """Draw the data set into ``root``, in the benchmarks' format. A seed determines every byte."""
    pairs = choose_pairs(seed)
    samples = []
    for split in SPLITS:
        spread = _long_tail if split == "train" else _flat
        labels = spread(pairs[split], images[split], Random(f"labels/{seed}/{split}"))
        for index, pair in enumerate(labels):
            path = f"images/{'_'.join(pair)}/{split}-{index:05d}.png"
            _draw(root / path, pair, Random(f"image/{seed}/{split}/{index}"))
            samples.append(Sample(path, *pair, split))
    compositional.write(root, PairData(pairs, samples))


def read(root: Path, images: dict[str, int]) -> PairData:
    """Read and check a synthetic data set."""
    return compositional.read(root, {f"{split}_images": images[split] for split in SPLITS})
