"""SugarCrepe++: an image, two true captions in different words, and a false one (Dumpala et al., 2024).

Read like ``VLMs/test_Variants_CLIP.py`` of Sri-Harsha/scpp at c083bbf: each file is a list of items with ``filename``,
``caption``, ``caption2`` and ``negative_caption``, all of which count, and images are not cropped. Two items of
``swap_obj`` have a false caption that equals the true one: they are always wrong.
"""

import numpy as np

from recompose.tracks.vlc.data.formats.reading import check_distinct
from recompose.tracks.vlc.data.formats.sources import VAL2017, github, plain_files
from recompose.tracks.vlc.data.formats.sugarcrepe import IMAGES
from recompose.tracks.vlc.data.formats.suite_files import SuiteFiles
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.subtasks import in_sense, macro, subtasks, suite
from recompose.tracks.vlc.suites.tasks import Triplets

SETS = ("replace_obj", "replace_att", "replace_rel", "swap_obj", "swap_att")
ITEMS = {"replace_obj": 1_652, "replace_att": 788, "replace_rel": 1_406, "swap_obj": 245, "swap_att": 666}
SUBTASKS = tuple(subtasks("sugarcrepe_pp", ITEMS, "triplet", 3, "strict"))
MEAN = suite(macro("sugarcrepe_pp", *ITEMS))  # its paper prints no mean
MEANS = (MEAN, in_sense(MEAN, "text_only"))
IS_DRAWN = False  # of no paper here: it has no synthetic data
LAYOUT = f"""\
<suite>/{{{",".join(SETS)}}}.json: the folder data of github.com/Sri-Harsha/scpp
{IMAGES}/<12 digits>.jpg: val2017.zip of cocodataset.org"""

ADDRESS = github("Sri-Harsha/scpp", "c083bbf039a5ca215acaf25e7ee736d2ea6f3864")
SOURCES = (*plain_files("sugarcrepe_pp", f"{ADDRESS}/data", *(f"{name}.json" for name in SETS)), VAL2017)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: a file is absent or not as published.
    """
    return files.suite({name: _triplets(files, f"{name}.json") for name in SETS})


def _triplets(files: SuiteFiles, file: str) -> Triplets:
    items = files.items(file)
    check_distinct(items, "id")
    images = [files.image(item, "filename", IMAGES) for item in items]
    texts = [files.texts(item, "caption", "caption2", "negative_caption") for item in items]
    return Triplets(np.array(images, dtype=np.int64), np.array(texts, dtype=np.int64))
