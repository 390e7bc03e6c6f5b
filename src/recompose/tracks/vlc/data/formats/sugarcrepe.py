"""SugarCrepe: an image's true caption, and one that language models changed (Hsieh et al., 2023).

Read like ``main_eval.py`` of RAIVNLab/sugar-crepe at 0047054: each file is an object of items with ``filename``,
``caption`` and ``negative_caption``, all of which count, and images are not cropped. The keys of items are names, not
numbers: those of ``swap_obj`` have gaps.
"""

from recompose.tracks.vlc.data.formats.reading import COCO, AnnotationItem, Question
from recompose.tracks.vlc.data.formats.sources import VAL2017, github, plain_files
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import macro, micro, subtasks, suite

SETS = {
    **{"replace_obj": 1_652, "replace_att": 788, "replace_rel": 1_406},
    **{"swap_obj": 245, "swap_att": 666, "add_obj": 2_062, "add_att": 692},
}
IMAGES = f"{COCO}/val2017"
SUBTASKS = tuple(subtasks("sugarcrepe", SETS, "i2t", "strict"))
_KINDS = (micro(kind, *(name for name in SETS if name.startswith(kind))) for kind in ("replace", "swap", "add"))
MEAN = suite(macro("sugarcrepe", *_KINDS))
MEANS = (MEAN, micro("sugarcrepe/micro", *MEAN.leaves))  # the second: over all items, as in its paper
LICENCE = "MIT"  # of annotations, as its repository or its paper states
STATE = "published; COCO's images"
LAYOUT = f"""\
<suite>/{{{",".join(SETS)}}}.json: the folder data of github.com/RAIVNLab/sugar-crepe
{IMAGES}/<12 digits>.jpg: val2017.zip of cocodataset.org"""

ADDRESS = github("RAIVNLab/sugar-crepe", "0047054b243992f0fad63d6f64f7544862daf846")
SOURCES = (*plain_files("sugarcrepe", f"{ADDRESS}/data", *(f"{name}.json" for name in SETS)), VAL2017)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: a file is absent or not as published.
    """
    items = {name: files.items(f"{name}.json") for name in SETS}
    return files.suite({name: files.choices("i2t", list(map(_question, items[name]))) for name in SETS})


def _question(item: AnnotationItem) -> Question:
    return item.path("filename", IMAGES), [item.text("caption"), item.text("negative_caption")], 0
