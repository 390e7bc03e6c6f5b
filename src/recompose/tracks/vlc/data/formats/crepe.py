"""CREPE's productivity: captions of four to twelve atoms, each among false ones (Ma et al., 2023).

Read like ``crepe_eval_utils.py`` and ``crepe_prod_eval_clip.py`` of RAIVNLab/CREPE at 1fa81c4: an image of Visual
Genome is cropped to a box, and its candidates are the true caption and then all its hard negatives. The released code
reports ranks for each number of atoms; a sub-task here has the items of all its files, with equal weight.
"""

import ast

from recompose.tracks.vlc.data.formats.reading import VISUAL_GENOME, AnnotationItem, Question
from recompose.tracks.vlc.data.formats.sources import VISUAL_GENOME_PARTS, Source, github
from recompose.tracks.vlc.data.formats.suite_files import SuiteFiles
from recompose.tracks.vlc.data.suite import Suite

SETS = ("atom", "swap", "negate")
COMPLEXITIES = range(4, 13)  # atoms of a caption
COLUMNS = ("image_id", "caption", "hard_negs", "x", "y", "width", "height")  # hard_negs: a list as Python writes it
LAYOUT = f"""\
<suite>/prod_hard_negatives/<set>/prod_vg_hard_negs_<set>_complexity_<n>.csv, sets {", ".join(SETS)}, n from \
{COMPLEXITIES[0]} to {COMPLEXITIES[-1]}: data/prod_hard_negatives.zip of github.com/RAIVNLab/CREPE
{VISUAL_GENOME}/<image_id>.jpg: both parts of Visual Genome's images, visualgenome.org"""

ADDRESS = github("RAIVNLab/CREPE", "1fa81c425f442396fe304f170c8eb6dc0747c814")
SOURCES = (
    Source(
        "crepe/prod_hard_negatives.zip",
        {rf"((?:{'|'.join(SETS)})/prod_vg_hard_negs_\w+\.csv)": "crepe/prod_hard_negatives"},
        (f"{ADDRESS}/data/prod_hard_negatives.zip",),
    ),
    *VISUAL_GENOME_PARTS,
)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: a file is absent or not as published.
    """
    return files.suite({name: files.choices("i2t", _questions(files, name)) for name in SETS})


def negatives(row: AnnotationItem) -> list[str]:
    """Return the false captions of a row.

    Raises:
        DataError: they are no list of texts as Python writes it, or an empty one, or a text is empty.
    """
    try:
        captions = ast.literal_eval(row.text("hard_negs"))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        captions = None
    if not isinstance(captions, list):
        raise row.field_fault("hard_negs", "wrong-kind", "is not a list as Python writes it")
    return AnnotationItem(row.file, row.name, {"hard_negs": captions}).texts("hard_negs")


def _questions(files: SuiteFiles, name: str) -> list[Question]:
    names = [f"prod_vg_hard_negs_{name}_complexity_{complexity}.csv" for complexity in COMPLEXITIES]
    rows = [row for file in names for row in files.rows(f"prod_hard_negatives/{name}/{file}", COLUMNS)]
    return [_question(files, row) for row in rows]


def _question(files: SuiteFiles, row: AnnotationItem) -> Question:
    box = row.box("x", "y", "width", "height")
    image = files.collector.image(f"{VISUAL_GENOME}/{row.whole('image_id')}.jpg", box)
    return image, [files.text(row, "caption"), *map(files.collector.text, negatives(row))], 0
