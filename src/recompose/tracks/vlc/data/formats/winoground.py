"""Winoground: two images and two captions of the same words, to be matched (Thrush et al., 2022).

Images are named without their ending, ``.png``, as the files that were published at first have it.
"""

from pathlib import Path

import numpy as np

from recompose.tracks.vlc.data.formats.reading import distinct, read_lines
from recompose.tracks.vlc.data.suite import Collector, Groups, Suite

NAME = "winoground"
IMAGES = f"images/{NAME}"
LAYOUT = (
    f"{NAME}/examples.jsonl, data/examples.jsonl of huggingface.co/datasets/facebook/winoground, which is gated: its "
    "conditions have to be accepted (today it is offered as parquet; an earlier revision has this file): lines of "
    '{"id", "image_0", "image_1", "caption_0", "caption_1"}; '
    f"{IMAGES}/<image>.png (data/images.zip there)"
)


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: the file is absent or not as published.
    """
    collector = Collector()
    found = read_lines(root / NAME / "examples.jsonl", LAYOUT)
    distinct(found, "id")
    images = [[collector.image(one.path(f"image_{side}", IMAGES) + ".png") for side in (0, 1)] for one in found]
    texts = [[collector.text(one.text(f"caption_{side}")) for side in (0, 1)] for one in found]
    return collector.suite(NAME, {NAME: Groups(np.array(images, dtype=np.int64), np.array(texts, dtype=np.int64))})
