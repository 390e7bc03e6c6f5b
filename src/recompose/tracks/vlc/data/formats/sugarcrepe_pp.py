"""SugarCrepe++: an image, two true captions in different words, and a false one (Dumpala et al., 2024).

Read like ``VLMs/test_Variants_CLIP.py`` of Sri-Harsha/scpp at c083bbf: each file is a list of items with ``filename``,
``caption``, ``caption2`` and ``negative_caption``, all of which count, and images are not cropped. Two items of
``swap_obj`` have a false caption that equals the true one: they are always wrong.
"""

from recompose.tracks.vlc.data.formats.reading import check_distinct
from recompose.tracks.vlc.data.formats.sources import VAL2017, github, plain_files
from recompose.tracks.vlc.data.formats.sugarcrepe import IMAGES
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import in_sense, macro, subtasks, suite
from recompose.tracks.vlc.suites.tasks import Triplets

CAPTIONS = ("caption", "caption2", "negative_caption")
SETS = {"replace_obj": 1_652, "replace_att": 788, "replace_rel": 1_406, "swap_obj": 245, "swap_att": 666}
SUBTASKS = tuple(subtasks("sugarcrepe_pp", SETS, "triplet", "strict"))
MEAN = suite(macro("sugarcrepe_pp", *SETS))  # its paper prints no mean
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
    images = files.image_numbers(item.path("filename", IMAGES) for item in items)
    texts = files.text_numbers(item.text(key) for item in items for key in CAPTIONS)
    return Triplets(images, texts.reshape(-1, len(CAPTIONS)))
