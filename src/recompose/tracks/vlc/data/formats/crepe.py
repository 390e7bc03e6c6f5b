"""CREPE's productivity: captions of four to twelve atoms, each among false ones (Ma et al., 2023).

Read like ``crepe_eval_utils.py`` and ``crepe_prod_eval_clip.py`` of RAIVNLab/CREPE at 1fa81c4: an image of Visual
Genome is cropped to a box, and its candidates are the true caption and then all its hard negatives. The released code
reports ranks for each number of atoms; a sub-task here has the items of all its files, with equal weight, in groups by
their numbers of atoms.
"""

import ast

from recompose.tracks.vlc.data.formats.reading import VISUAL_GENOME, AnnotationItem, Question
from recompose.tracks.vlc.data.formats.sources import VISUAL_GENOME_PARTS, Source, github
from recompose.tracks.vlc.data.formats.suite_files import SuiteFiles
from recompose.tracks.vlc.data.suite import Choices, Suite
from recompose.tracks.vlc.suites.catalogue import CREPE_COMPLEXITIES

SETS = ("atom", "swap", "negate")
NEGATIVES = "hard_negs"  # a list as Python writes it
COLUMNS = ("image_id", "caption", NEGATIVES, "x", "y", "width", "height")
LAYOUT = f"""\
<suite>/prod_hard_negatives/<set>/prod_vg_hard_negs_<set>_complexity_<n>.csv, sets {", ".join(SETS)}, n from \
{CREPE_COMPLEXITIES[0]} to {CREPE_COMPLEXITIES[-1]}: data/prod_hard_negatives.zip of github.com/RAIVNLab/CREPE
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
    return files.suite({name: _choices(files, name) for name in SETS})


def question(files: SuiteFiles, row: AnnotationItem, column: str) -> Question:
    """Return the question of a row: the region, and its true caption before the false ones of a column.

    Raises:
        DataError: a field is not as published.
    """
    box = row.box("x", "y", "width", "height")
    image = files.collector.image(f"{VISUAL_GENOME}/{row.whole('image_id')}.jpg", box)
    return image, [files.text(row, "caption"), *map(files.collector.text, negatives(row, column))], 0


def negatives(row: AnnotationItem, column: str = NEGATIVES) -> list[str]:
    """Return the false captions in a column of a row.

    Raises:
        DataError: they are no list of texts as Python writes it, or an empty one, or a text is empty.
    """
    try:
        captions = ast.literal_eval(row.text(column))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        captions = None
    if not isinstance(captions, list):
        raise row.field_fault(column, "wrong-kind", "is not a list as Python writes it")
    return AnnotationItem(row.file, row.name, {column: captions}).texts(column)


def _choices(files: SuiteFiles, name: str) -> Choices:
    parts = {
        str(complexity): files.rows(
            f"prod_hard_negatives/{name}/prod_vg_hard_negs_{name}_complexity_{complexity}.csv", COLUMNS
        )
        for complexity in CREPE_COMPLEXITIES
    }
    questions = [question(files, row, NEGATIVES) for rows in parts.values() for row in rows]
    return files.choices("i2t", questions, [complexity for complexity, rows in parts.items() for _ in rows])
