"""SVO-Probes: the one of two images that shows the content of a sentence (Hendricks and Nematzadeh, 2021).

From google-deepmind/svo_probes at 206219e. The images differ in subject, verb or object. A row of the file that marks
several of them, or none, belongs to no set, as in the released notebook. The notebook classifies each image by itself;
evaluations of CLIP compare the two.

The file has addresses of images, many of them dead by now. Items without an image are left out, and their number is
reported.
"""

from collections.abc import Sequence
from pathlib import Path

from recompose.progress import say
from recompose.tracks.vlc.data.formats.reading import AnnotationItem, Question, missing_error, read_rows
from recompose.tracks.vlc.data.suite import Collector, Suite

NAME = "svo_probes"
SETS = ("subj_neg", "verb_neg", "obj_neg")
FILE = "svo_probes.csv"
IMAGES = f"images/{NAME}"
COLUMNS = ("sentence", "pos_image_id", "neg_image_id", *SETS)  # the last are True or False
LAYOUT = f"""\
{NAME}/{FILE}: github.com/google-deepmind/svo_probes
{IMAGES}/<image_id>.jpg: what can still be downloaded from the addresses in that file, many of which are dead; items \
without an image are left out"""


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: a file is absent or not as published, or a set has no item whose images exist.
    """
    folder, collector = root / IMAGES, Collector()
    published = sets(read_rows(root / NAME / FILE, LAYOUT, COLUMNS))
    present = {file.name for file in folder.iterdir()} if folder.is_dir() else set()
    complete = {name: [row for row in rows if present.issuperset(_files(row))] for name, rows in published.items()}
    for name, rows in complete.items():
        if not rows:
            raise missing_error(
                f"{folder} lacks an image of each of the {len(published[name])} items of {name}", LAYOUT
            )
    counts = ", ".join(
        f"{len(published[name]) - len(complete[name])} of {len(published[name])} {name}" for name in SETS
    )
    say(f"{NAME}: items left out without an image: {counts}")
    questions = {name: [_question(row, collector) for row in rows] for name, rows in complete.items()}
    tasks = {f"{NAME}/{name}": collector.choices("t2i", questions[name]) for name in SETS}
    return collector.suite(NAME, tasks)


def sets(rows: Sequence[AnnotationItem]) -> dict[str, list[AnnotationItem]]:
    """Return the rows of each set: those for which only its column is true.

    Raises:
        DataError: one of the columns is neither True nor False.
    """
    marked = [(row, [name for name in SETS if _truth(row, name)]) for row in rows]
    return {name: [row for row, marks in marked if marks == [name]] for name in SETS}


def _truth(row: AnnotationItem, column: str) -> bool:
    value = row.text(column).strip().lower()
    if value not in ("true", "false"):
        raise row.fault(f"field {column!r} is neither True nor False")
    return value == "true"


def _files(row: AnnotationItem) -> list[str]:
    return [f"{row.whole(column)}.jpg" for column in ("pos_image_id", "neg_image_id")]


def _question(row: AnnotationItem, collector: Collector) -> Question:
    return collector.text(row.text("sentence")), [collector.image(f"{IMAGES}/{file}") for file in _files(row)], 0
