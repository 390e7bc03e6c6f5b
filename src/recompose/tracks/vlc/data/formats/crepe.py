"""CREPE's test of productivity: captions of four to twelve atoms, each among false ones, for parts of images.

Read as RAIVNLab/CREPE at 1fa81c4 does (``crepe_eval_utils.py``, ``crepe_prod_eval_clip.py``): a box is cut out of an
image of Visual Genome, and the true caption stands first, before the hard negatives, of which items have different
numbers. The released code tells the rank of the true caption per number of atoms; a sub-task here is of all of them.
"""

import ast
from pathlib import Path

from recompose.tracks.vlc.data.formats.reading import VISUAL_GENOME, Item, read_rows
from recompose.tracks.vlc.data.suite import Choices, Collector, Suite

NAME = "crepe"
SETS = ("atom", "swap", "negate")
COMPLEXITIES = range(4, 13)
COLUMNS = ("image_id", "caption", "hard_negs", "x", "y", "width", "height")
LAYOUT = (
    f"{NAME}/prod_hard_negatives/<set>/prod_vg_hard_negs_<set>_complexity_<n>.csv for the sets {', '.join(SETS)} and n "
    f"from {COMPLEXITIES[0]} to {COMPLEXITIES[-1]}, from data/prod_hard_negatives.zip of github.com/RAIVNLab/CREPE: "
    f"columns {', '.join(COLUMNS)}, hard_negs a list of texts as Python writes it; "
    f"{VISUAL_GENOME}/<image_id>.jpg, all images in one folder"
)


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: a file is absent or not as published.
    """
    collector = Collector()
    tasks = {f"{NAME}/{name}": _choices(_rows(root, name), collector) for name in SETS}
    return collector.suite(NAME, tasks)


def _rows(root: Path, name: str) -> list[Item]:
    folder = root / NAME / "prod_hard_negatives" / name
    files = [folder / f"prod_vg_hard_negs_{name}_complexity_{complexity}.csv" for complexity in COMPLEXITIES]
    return [row for file in files for row in read_rows(file, LAYOUT, COLUMNS)]


def _choices(rows: list[Item], collector: Collector) -> Choices:
    def item(row: Item) -> tuple[int, list[int], int]:
        image = collector.image(f"{VISUAL_GENOME}/{row.whole('image_id')}.jpg", row.box("x", "y", "width", "height"))
        return image, [collector.text(caption) for caption in (row.text("caption"), *negatives(row))], 0

    return collector.choices("i2t", [item(row) for row in rows])


def negatives(row: Item) -> list[str]:
    """The false captions of a row, written as Python writes a list of texts.

    Raises:
        DataError: they are written otherwise, there is none, or one is empty.
    """
    try:
        listed = ast.literal_eval(row.text("hard_negs"))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise row.fault("field 'hard_negs' is not a list of texts") from None
    if not isinstance(listed, list):
        raise row.fault("field 'hard_negs' is not a list of texts")
    return Item(row.file, row.name, {"hard_negs": listed}).texts("hard_negs")
