"""VALSE: a caption and its foil for an image, in eleven files of seven phenomena (Parcalabescu et al., 2022).

An item is kept where at least two of the three people who were asked took the caption alone to describe the image, as
the released code keeps them (Heidelberg-NLP/VALSE at 2152d90, ``lxmert_valse_eval.py``).
"""

from pathlib import Path

from recompose.tracks.vlc.data.formats.reading import COCO, Item, fault, read_items
from recompose.tracks.vlc.data.suite import Choices, Collector, Suite

NAME = "valse"
SETS = (
    *("existence", "plurals", "counting-hard", "counting-small-quant", "counting-adversarial", "relations"),
    *("action-replacement", "actant-swap", "coreference-standard", "coreference-hard", "foil-it"),
)
AGREEING = 2  # of the three people asked, at least
FOLDERS = {  # of images, by the data set that an item names; files are named as there
    "coco2017": f"{COCO}/val2017",
    "coco_2017": f"{COCO}/val2017",
    "FOIL dataset": f"{COCO}/val2014",
    "SWiG": "images/swig",
    "visual7w": "images/visual7w",
}
DIALOGUES = "VisDial_v1.0"  # of whose images the name tells the folder
DIALOGUE_FOLDERS = {
    "COCO_train2014": f"{COCO}/train2014",
    "COCO_val2014": f"{COCO}/val2014",
    "VisualDialog_val2018": "images/visdial/VisualDialog_val2018",
}
LAYOUT = (
    f"{NAME}/<set>.json for the sets {', '.join(SETS)}, from the folder data of github.com/Heidelberg-NLP/VALSE: "
    '{id: {"dataset", "image_file", "caption", "foil", "mturk": {"caption": votes}}, ...}; '
    f"<image_file> in {COCO}/train2014, {COCO}/val2014, {COCO}/val2017 (cocodataset.org), images/visual7w "
    "(ai.stanford.edu/~yukez/visual7w), images/swig (images_512.zip of github.com/allenai/swig) and "
    "images/visdial/VisualDialog_val2018 (visualdialog.org/data), by its dataset"
)


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: a file is absent or not as published, or nobody's votes keep an item of it.
    """
    collector = Collector()
    return collector.suite(NAME, {f"{NAME}/{name}": _choices(root / NAME / f"{name}.json", collector) for name in SETS})


def _choices(path: Path, collector: Collector) -> Choices:
    def item(one: Item) -> tuple[int, list[int], int]:
        image = collector.image(one.path("image_file", images_of(one)))
        return image, [collector.text(one.text(key)) for key in ("caption", "foil")], 0

    kept = [one for one in read_items(path, LAYOUT) if one.part("mturk", dict).whole("caption") >= AGREEING]
    if not kept:
        raise fault(path, f"no item has {AGREEING} votes for its caption")
    return collector.choices("i2t", [item(one) for one in kept])


def images_of(item: Item) -> str:
    """The folder of an item's image.

    Raises:
        DataError: the data set is none of those whose images VALSE is about.
    """
    data_set, folders = item.text("dataset"), FOLDERS
    if data_set == DIALOGUES:
        data_set, folders = item.text("image_file").rpartition("_")[0], DIALOGUE_FOLDERS
    if data_set not in folders:
        raise item.fault(f"there are images of {', '.join(folders)}, not of {data_set!r}")
    return folders[data_set]
