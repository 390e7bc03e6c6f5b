"""COCO-Counterfactuals' retrieval: pairs of two generated images and their two captions (Le et al., 2023).

FSC-CLIP uses 30 % of the pairs, 5,223, with an unpublished seed. Here the same number is drawn from more pairs with our
own seed, so that two machines evaluate the same items.
"""

import random

from recompose.tracks.vlc.data.formats.reading import check_distinct
from recompose.tracks.vlc.data.formats.sources import archive, plain_files
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import SubTask

PAIRS = 5_223  # of its 17,410 pairs of two images and two captions, drawn with an unknown seed
SUBTASKS = (SubTask("coco_counterfactuals", "retrieval", 2 * PAIRS, captions=2 * PAIRS),)
MEANS = SUBTASKS[0].leaves
LICENCE = "CC BY 4.0"  # of annotations, as its repository or its paper states
STATE = "published; which 30 % the paper took is not"
SEED = 0
LAYOUT = (
    "<suite>/examples.jsonl, data/examples.jsonl of huggingface.co/datasets/Intel/COCO-Counterfactuals: lines of "
    '{"id", "image_0", "image_1", "caption_0", "caption_1"}; images/<suite>/<image>.jpg (data/images.zip there)'
)

ADDRESS = "https://huggingface.co/datasets/Intel/COCO-Counterfactuals/resolve/main/data"
SOURCES = (
    *plain_files("coco_counterfactuals", ADDRESS, "examples.jsonl"),
    archive("coco_counterfactuals", f"{ADDRESS}/images.zip", {r"([^/]+\.jpg)": "images/coco_counterfactuals"}),
)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: the file is absent or not as published.
    """
    pairs = files.lines("examples.jsonl")
    check_distinct(pairs, "id")
    captions = [
        (pairs[position].path(f"image_{side}", files.images) + ".jpg", [pairs[position].text(f"caption_{side}")])
        for position in pair_sample(len(pairs))
        for side in (0, 1)
    ]
    return files.suite({"": files.pool(captions)})


def pair_sample(pairs: int) -> list[int]:
    """Return the positions of the selected pairs, in their order."""
    return sorted(random.Random(SEED).sample(range(pairs), min(pairs, PAIRS)))
