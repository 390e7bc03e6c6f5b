"""CREPE's productivity: captions of four atoms and more, each among five false ones (Ma et al., 2023).

Read like ``crepe_eval_utils.py`` and ``crepe_prod_eval_clip.py`` of RAIVNLab/CREPE at 1fa81c4: an image of Visual
Genome is cropped to a box, and its candidates are the true caption and then all its hard negatives. Some rows have the
negatives as a set, whose order is then any; here it is alphabetical. Some swapped captions equal the true one.

The released code reports ranks for each number of atoms from 4 to 12, from files of their own in folders beside those
read here. vl_compo's scores are shares of 17,698, 7,405 and 17,303 items, which those files do not have (16,727, 6,652
and 16,336), so they are of the files of all captions, with 13 atoms and more too, which are one group here.
"""

from recompose.data.pictures import Picture
from recompose.tracks.vlc.data.formats.reading import VISUAL_GENOME, AnnotationItem, Question
from recompose.tracks.vlc.data.formats.sources import VISUAL_GENOME_PARTS, archive, github
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import macro, subtasks, suite
from recompose.tracks.vlc.suites.tasks import Choices

NEGATIVES = "hard_negs"  # as Python writes them
COLUMNS = ("image_id", "caption", "n", NEGATIVES, "x", "y", "width", "height")  # n: atoms of the caption
COMPLEXITIES = range(4, 14)  # atoms of a caption; the last: 13 and more
# the true caption is first, and a stable sort leaves it before equals: some false captions are the same text
SETS = {"atom": 17_698, "swap": 7_405, "negate": 17_303}
SUBTASKS = tuple(subtasks("crepe", SETS, "i2t", "lenient", groups=tuple(map(str, COMPLEXITIES))))
MEANS = (suite(macro("crepe", *SETS)),)
LICENCE = "unknown"  # of annotations, as its repository or its paper states
STATE = "published; Visual Genome's images"
LAYOUT = f"""\
<suite>/prod_hard_negatives/prod_vg_hard_negs_<set>_all.csv, sets {", ".join(SETS)}: data/prod_hard_negatives.zip of \
github.com/RAIVNLab/CREPE
{VISUAL_GENOME}/<image_id>.jpg: both parts of Visual Genome's images, visualgenome.org"""

ADDRESS = github("RAIVNLab/CREPE", "1fa81c425f442396fe304f170c8eb6dc0747c814")
SOURCES = (
    archive(
        "crepe",
        f"{ADDRESS}/data/prod_hard_negatives.zip",
        {rf"(prod_vg_hard_negs_(?:{'|'.join(SETS)})_all\.csv)": "crepe/prod_hard_negatives"},
    ),
    *VISUAL_GENOME_PARTS,
)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: a file is absent or not as published.
    """
    return files.suite({name: _choices(files, name) for name in SETS})


def file_of(name: str) -> str:
    """Return the path of a set's file below the suite's folder."""
    return f"prod_hard_negatives/prod_vg_hard_negs_{name}_all.csv"


def question(row: AnnotationItem, column: str) -> Question:
    """Return the question of a row: the region, and its true caption before the false ones of a column.

    Raises:
        DataError: a field is not as published.
    """
    region = Picture(f"{VISUAL_GENOME}/{row.whole('image_id')}.jpg", row.box("x", "y", "width", "height"))
    return region, [row.text("caption"), *row.literal(column).texts(column)], 0


def _choices(files: SuiteFiles, name: str) -> Choices:
    rows = files.rows(file_of(name), COLUMNS)
    groups = [str(min(row.whole("n"), COMPLEXITIES[-1])) for row in rows]
    return files.choices("i2t", [question(row, NEGATIVES) for row in rows], groups)
