"""COCO's retrieval: Karpathy's test split, 5,000 images of COCO's validation set of 2014 and their 25,010 captions."""

from pathlib import Path

from recompose.tracks.vlc.data.formats.reading import COCO
from recompose.tracks.vlc.data.formats.retrieval import FORMS, KarpathySplit
from recompose.tracks.vlc.data.suite import Suite

NAME = "coco"
FILE, ORIGINAL, FOLDER = "coco_karpathy_test.json", "dataset_coco.json", "val2014"
LAYOUT = (
    f"{NAME}/{FILE} (storage.googleapis.com/sfr-vision-language-research/datasets/{FILE}) or {NAME}/{ORIGINAL} "
    f"(caption_datasets.zip of cs.stanford.edu/people/karpathy/deepimagesent): {FORMS}; "
    f"{COCO}/{FOLDER}/<file>, such as COCO_val2014_000000391895.jpg (cocodataset.org)"
)
SPLIT = KarpathySplit(NAME, FILE, ORIGINAL, COCO, FOLDER, LAYOUT)


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: the file is absent or not as published.
    """
    return SPLIT.read(root)
