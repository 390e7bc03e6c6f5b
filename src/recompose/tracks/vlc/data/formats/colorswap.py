"""ColorSwap: pairs of images and captions with exchanged colours, to match (Burapacheep et al., 2024).

The 300 examples of its test split; image and caption of one number belong together (Top34051/colorswap at 4f2c9e4).
"""

from pathlib import Path

import numpy as np

from recompose.tracks.vlc.data.formats.reading import check_distinct, read_items
from recompose.tracks.vlc.data.suite import Collector, Groups, Suite

NAME = "colorswap"
IMAGES = f"images/{NAME}"
LAYOUT = (
    f"{NAME}/test.json, from the archive that github.com/Top34051/colorswap links to (Google Drive): "
    '[{"id", "caption_1", "caption_2", "image_1", "image_2"}, ...]; '
    f"{IMAGES}/<image>, such as {IMAGES}/images/img_0_1.png (images.zip there); huggingface.co/datasets/stanfordnlp/"
    "colorswap has the same, for those with an account"
)


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: the file is absent or not as published.
    """
    collector = Collector()
    examples = read_items(root / NAME / "test.json", LAYOUT)
    check_distinct(examples, "id")
    images = [[collector.image(example.path(f"image_{side}", IMAGES)) for side in (1, 2)] for example in examples]
    texts = [[collector.text(example.text(f"caption_{side}")) for side in (1, 2)] for example in examples]
    return collector.suite(NAME, {NAME: Groups(np.array(images, dtype=np.int64), np.array(texts, dtype=np.int64))})
