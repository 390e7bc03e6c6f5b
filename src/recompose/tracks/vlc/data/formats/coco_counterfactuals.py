"""COCO-Counterfactuals' retrieval: pairs of two drawn images and their two captions (Le et al., 2023).

FSC-CLIP takes 30 % of the pairs, 5,223, with a seed that it does not tell: of more pairs than these as many are drawn
here, with a seed of our own, so that two machines ask the same.
"""

import random
from pathlib import Path

from recompose.tracks.vlc.data.formats.reading import distinct, read_lines
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
    found = read_lines(root / NAME / "examples.jsonl", LAYOUT)
    distinct(found, "id")
    captions = [
        (found[place].path(f"image_{side}", IMAGES) + ".jpg", [found[place].text(f"caption_{side}")])
        for place in drawn(len(found))
        for side in (0, 1)
    ]
    return collector.suite(NAME, {NAME: pool(captions, collector)})


def drawn(pairs: int) -> list[int]:
    """The places of the pairs that are taken of so many, in their order."""
    return sorted(random.Random(SEED).sample(range(pairs), min(pairs, PAIRS)))
