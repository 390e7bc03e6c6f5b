"""VALSE: a caption and its foil for an image, in eleven files of seven phenomena (Parcalabescu et al., 2022).

An item is used if at least two of its three annotators found that only the caption describes the image, as in the
released code (Heidelberg-NLP/VALSE at 2152d90, ``lxmert_valse_eval.py``).
"""

from pathlib import Path

from recompose.tracks.vlc.data.formats.reading import COCO, AnnotationItem, fault, read_items
from recompose.tracks.vlc.data.suite import Choices, Collector, Suite

NAME = "valse"
SETS = (
    *("existence", "plurals", "counting-hard", "counting-small-quant", "counting-adversarial", "relations"),
    *("action-replacement", "actant-swap", "coreference-standard", "coreference-hard", "foil-it"),
)
AGREEING = 2  # of the three annotators, at least
FOLDERS = {  # data set of an item -> folder of its images; files keep their names
    "coco2017": f"{COCO}/val2017",
    "coco_2017": f"{COCO}/val2017",
    "FOIL dataset": f"{COCO}/val2014",
    "SWiG": "images/swig",
    "visual7w": "images/visual7w",
}
DIALOGUES = "VisDial_v1.0"  # the folder of its images follows from their names
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
        DataError: a file is absent or not as published, or none of its items has enough votes.
    """
    collector = Collector()
    return collector.suite(NAME, {f"{NAME}/{name}": _choices(root / NAME / f"{name}.json", collector) for name in SETS})


def _choices(path: Path, collector: Collector) -> Choices:
    def item(entry: AnnotationItem) -> tuple[int, list[int], int]:
        image = collector.image(entry.path("image_file", images_of(entry)))
        return image, [collector.text(entry.text(key)) for key in ("caption", "foil")], 0

    valid = [entry for entry in read_items(path, LAYOUT) if entry.part("mturk", dict).whole("caption") >= AGREEING]
    if not valid:
        raise fault(path, f"no item has {AGREEING} votes for its caption")
    return collector.choices("i2t", [item(entry) for entry in valid])


def images_of(item: AnnotationItem) -> str:
    """Return the folder of an item's image.

    Raises:
        DataError: the data set is none of those of VALSE.
    """
    data_set, folders = item.text("dataset"), FOLDERS
    if data_set == DIALOGUES:
        data_set, folders = item.text("image_file").rpartition("_")[0], DIALOGUE_FOLDERS
    if data_set not in folders:
        raise item.fault(f"there are images of {', '.join(folders)}, not of {data_set!r}")
    return folders[data_set]
