"""COCO-Counterfactuals' retrieval: pairs of two generated images and their two captions (Le et al., 2023).

FSC-CLIP uses 30 % of the pairs, 5,223, with an unpublished seed. Here the same number is drawn from more pairs with our
own seed, so that two machines evaluate the same items.
"""

import random
from pathlib import Path

from recompose.tracks.vlc.data.formats.reading import check_distinct, read_lines
from recompose.tracks.vlc.data.formats.retrieval import pool
from recompose.tracks.vlc.data.suite import Collector, Suite
from recompose.tracks.vlc.suites.catalogue import RETRIEVALS

NAME = "coco_counterfactuals"
IMAGES = f"images/{NAME}"
PAIRS = RETRIEVALS[NAME].images // 2
SEED = 0
LAYOUT = (
    f"{NAME}/examples.jsonl, data/examples.jsonl of huggingface.co/datasets/Intel/COCO-Counterfactuals: lines of "
    f'{{"id", "image_0", "image_1", "caption_0", "caption_1"}}; {IMAGES}/<image>.jpg (data/images.zip there)'
)


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: the file is absent or not as published.
    """
    collector = Collector()
    pairs = read_lines(root / NAME / "examples.jsonl", LAYOUT)
    check_distinct(pairs, "id")
    captions = [
        (pairs[position].path(f"image_{side}", IMAGES) + ".jpg", [pairs[position].text(f"caption_{side}")])
        for position in pair_sample(len(pairs))
        for side in (0, 1)
    ]
    return collector.suite(NAME, {NAME: pool(captions, collector)})


def pair_sample(pairs: int) -> list[int]:
    """Return the positions of the selected pairs, in their order."""
    return sorted(random.Random(SEED).sample(range(pairs), min(pairs, PAIRS)))
