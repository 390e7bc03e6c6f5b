"""SugarCrepe: an image's true caption, and one that language models changed (Hsieh et al., 2023).

Read like ``main_eval.py`` of RAIVNLab/sugar-crepe at 0047054: each file is an object of items with ``filename``,
``caption`` and ``negative_caption``, all of which count, and images are not cropped. The keys of items are names, not
numbers: those of ``swap_obj`` have gaps.
"""

from recompose.tracks.vlc.data.formats.reading import COCO, AnnotationItem, Question
from recompose.tracks.vlc.data.formats.sources import VAL2017, github, plain_files
from recompose.tracks.vlc.data.formats.suite_files import SuiteFiles
from recompose.tracks.vlc.data.suite import Suite

SETS = ("replace_obj", "replace_att", "replace_rel", "swap_obj", "swap_att", "add_obj", "add_att")
IMAGES = f"{COCO}/val2017"
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

    def question(item: AnnotationItem) -> Question:
        return files.image(item, "filename", IMAGES), files.texts(item, "caption", "negative_caption"), 0

    items = {name: files.items(f"{name}.json") for name in SETS}
    return files.suite({name: files.choices("i2t", [question(item) for item in items[name]]) for name in SETS})
