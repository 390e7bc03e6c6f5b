"""CREPE's productivity: captions of four atoms and more, each among five false ones (Ma et al., 2023).

Read like ``crepe_eval_utils.py`` and ``crepe_prod_eval_clip.py`` of RAIVNLab/CREPE at 1fa81c4: an image of Visual
Genome is cropped to a box, and its candidates are the true caption and then all its hard negatives. Some rows have the
negatives as a set, whose order is then any; here it is alphabetical. Some swapped captions equal the true one.

The released code reports ranks for each number of atoms from 4 to 12, from files of their own in folders beside those
read here. vl_compo's scores are shares of 17,698, 7,405 and 17,303 items, which those files do not have (16,727, 6,652
and 16,336), so they are of the files of all captions, with 13 atoms and more too.
"""

import ast

from recompose.tracks.vlc.data.formats.reading import VISUAL_GENOME, AnnotationItem, Question
from recompose.tracks.vlc.data.formats.suite_files import SuiteFiles
from recompose.tracks.vlc.data.suite import Suite

SETS = ("atom", "swap", "negate")
COLUMNS = ("image_id", "caption", "hard_negs", "x", "y", "width", "height")  # hard_negs: as Python writes it
LAYOUT = f"""\
<suite>/prod_hard_negatives/prod_vg_hard_negs_<set>_all.csv, sets {", ".join(SETS)}: data/prod_hard_negatives.zip of \
github.com/RAIVNLab/CREPE
{VISUAL_GENOME}/<image_id>.jpg: both parts of Visual Genome's images (VG_100K and VG_100K_2) in one folder, \
visualgenome.org"""


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: a file is absent or not as published.
    """
    return files.suite({name: files.choices("i2t", _questions(files, name)) for name in SETS})


def file_of(name: str) -> str:
    """Return the path of a set's file below the suite's folder."""
    return f"prod_hard_negatives/prod_vg_hard_negs_{name}_all.csv"


def negatives(row: AnnotationItem) -> list[str]:
    """Return the false captions of a row.

    Raises:
        DataError: they are no list or set of texts as Python writes it, or an empty one, or a text is empty.
    """
    try:
        captions = ast.literal_eval(row.text("hard_negs"))
        captions = sorted(captions) if isinstance(captions, set) else captions
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        captions = None
    if not isinstance(captions, list):
        raise row.field_fault("hard_negs", "wrong-kind", "is neither a list nor a set as Python writes it")
    return AnnotationItem(row.file, row.name, {"hard_negs": captions}).texts("hard_negs")


def _questions(files: SuiteFiles, name: str) -> list[Question]:
    return [_question(files, row) for row in files.rows(file_of(name), COLUMNS)]


def _question(files: SuiteFiles, row: AnnotationItem) -> Question:
    box = row.box("x", "y", "width", "height")
    image = files.collector.image(f"{VISUAL_GENOME}/{row.whole('image_id')}.jpg", box)
    return image, [files.text(row, "caption"), *map(files.collector.text, negatives(row))], 0
