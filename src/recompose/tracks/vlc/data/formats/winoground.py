"""Winoground: two images and two captions of the same words, to be matched (Thrush et al., 2022).

Images are named without their suffix, ``.png``, as in the files of the first publication.
"""

from pathlib import Path

import numpy as np

from recompose.tracks.vlc.data.formats.reading import check_distinct, read_lines
from recompose.tracks.vlc.data.suite import Collector, Groups, Suite

NAME = "winoground"
IMAGES = f"images/{NAME}"
LAYOUT = (
    f"{NAME}/examples.jsonl, data/examples.jsonl of huggingface.co/datasets/facebook/winoground, which is gated: "
    "accept its conditions (it is parquet today; an earlier revision has this file): lines of "
    '{"id", "image_0", "image_1", "caption_0", "caption_1"}; '
    f"{IMAGES}/<image>.png (data/images.zip there)"
)


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: the file is absent or not as published.
    """
    collector = Collector()
    examples = read_lines(root / NAME / "examples.jsonl", LAYOUT)
    check_distinct(examples, "id")
    images = [
        [collector.image(example.path(f"image_{side}", IMAGES) + ".png") for side in (0, 1)] for example in examples
    ]
    texts = [[collector.text(example.text(f"caption_{side}")) for side in (0, 1)] for example in examples]
    return collector.suite(NAME, {NAME: Groups(np.array(images, dtype=np.int64), np.array(texts, dtype=np.int64))})
