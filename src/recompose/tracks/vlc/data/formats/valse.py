"""VALSE: a caption and its foil for an image, in eleven files of seven phenomena (Parcalabescu et al., 2022).

An item is used if at least two of its three annotators found that only the caption describes the image, as in the
released code (Heidelberg-NLP/VALSE at 2152d90, ``lxmert_valse_eval.py``).
"""

from recompose.tracks.vlc.data.formats.reading import COCO, AnnotationItem, Question, fault
from recompose.tracks.vlc.data.formats.sources import (
    SWIG_IMAGES,
    TRAIN2014,
    VAL2014,
    VAL2017,
    archive,
    github,
    plain_files,
)
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import macro, subtasks, suite
from recompose.tracks.vlc.suites.tasks import Choices

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
SETS = {
    **{"existence": 505, "plurals": 851, "counting-hard": 868, "counting-small-quant": 900},
    **{"counting-adversarial": 691, "relations": 535, "action-replacement": 648, "actant-swap": 949},
    **{"coreference-standard": 708, "coreference-hard": 104, "foil-it": 943},
}
SUBTASKS = tuple(subtasks("valse", SETS, "i2t", "strict"))
COUNTING = macro("counting", "counting-hard", "counting-small-quant", "counting-adversarial")
ACTIONS = macro("actions", "action-replacement", "actant-swap")
COREFERENCE = macro("coreference", "coreference-standard", "coreference-hard")
# eleven files count as seven
MEANS = (suite(macro("valse", "existence", "plurals", COUNTING, "relations", ACTIONS, COREFERENCE, "foil-it")),)
LICENCE = "unknown"  # of annotations, as its repository or its paper states
STATE = "published; images of four other data sets"
LAYOUT = (
    f"<suite>/<set>.json for the sets {', '.join(SETS)}, from the folder data of github.com/Heidelberg-NLP/VALSE: "
    '{id: {"dataset", "image_file", "caption", "foil", "mturk": {"caption": votes}}, ...}; '
    f"<image_file> in {COCO}/train2014, {COCO}/val2014, {COCO}/val2017 (cocodataset.org), images/visual7w "
    "(ai.stanford.edu/~yukez/visual7w), images/swig (images_512.zip of github.com/allenai/swig) and "
    "images/visdial/VisualDialog_val2018 (visualdialog.org/data), by its dataset"
)

ADDRESS = github("Heidelberg-NLP/VALSE", "2152d90d4aecd11f7f74cf03420abcb63efff9c5")
VISUAL7W = "http://vision.stanford.edu/yukezhu/visual7w_images.zip"
DIALOGUE_IMAGES = "https://www.dropbox.com/s/twmtutniktom7tu/VisualDialog_val2018.zip?dl=1"
SOURCES = (
    *plain_files("valse", f"{ADDRESS}/data", *(f"{name}.json" for name in SETS)),
    TRAIN2014,
    VAL2014,
    VAL2017,
    SWIG_IMAGES,
    archive("visual7w", VISUAL7W, {r"(v7w_\d+\.jpg)": "images/visual7w"}),
    archive("visdial", DIALOGUE_IMAGES, {r"(VisualDialog_val2018/[^/]+\.jpg)": "images/visdial"}),
)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: a file is absent or not as published, or none of its items has enough votes.
    """
    return files.suite({name: _choices(files, f"{name}.json") for name in SETS})


def _choices(files: SuiteFiles, file: str) -> Choices:
    valid = [item for item in files.items(file) if item.part("mturk", dict).whole("caption") >= AGREEING]
    if not valid:
        raise fault(files.path(file), "no-items", f"no item has {AGREEING} votes for its caption")
    return files.choices("i2t", list(map(_question, valid)))


def _question(item: AnnotationItem) -> Question:
    return item.path("image_file", images_of(item)), [item.text("caption"), item.text("foil")], 0


def images_of(item: AnnotationItem) -> str:
    """Return the folder of an item's image.

    Raises:
        DataError: the data set is none of those of VALSE.
    """
    data_set, folders = item.text("dataset"), FOLDERS
    if data_set == DIALOGUES:
        data_set, folders = item.text("image_file").rpartition("_")[0], DIALOGUE_FOLDERS
    if data_set not in folders:
        raise item.fault("unknown-name", f"there are images of {', '.join(folders)}, not of {data_set!r}")
    return folders[data_set]
