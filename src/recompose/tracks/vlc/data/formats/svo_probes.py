"""SVO-Probes: the one of two images that shows the content of a sentence (Hendricks and Nematzadeh, 2021).

From google-deepmind/svo_probes at 206219e. The images differ in subject, verb or object. A row of the file that marks
several of them, or none, belongs to no set, as in the released notebook. The notebook classifies each image by itself;
evaluations of CLIP compare the two.

The file has addresses of images, many of them dead by now. Items without an image are left out, and their number is
reported.
"""

from collections.abc import Sequence

from recompose.tracks.vlc.data.formats.reading import AnnotationItem, Question
from recompose.tracks.vlc.data.formats.sources import Source, github, plain_files
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import macro, subtasks, suite

# no code was released; the counts are those of the images that FSC-CLIP's authors could still download
SETS = {"subj_neg": 3_728, "verb_neg": 13_523, "obj_neg": 4_911}
FILE = "svo_probes.csv"
COLUMNS = ("sentence", "pos_image_id", "neg_image_id", *SETS)  # the last are True or False
SUBTASKS = tuple(subtasks("svo_probes", SETS, "t2i", "strict"))
MEANS = (suite(macro("svo_probes", *SETS)),)
LICENCE = "CC BY 4.0"  # of annotations, as its repository or its paper states
STATE = "published as addresses of images, many of which are dead"
LAYOUT = f"""\
<suite>/{FILE}: github.com/google-deepmind/svo_probes
images/<suite>/<image_id>.jpg: what can still be downloaded from the addresses in that file, many of which are dead; \
items without an image are left out"""

SOURCES = (
    *plain_files("svo_probes", github("google-deepmind/svo_probes", "206219e2afd9640b8bbe6ef95f49b52b0d4ed350"), FILE),
    Source(
        "svo_probes/images.zip",
        {r"(\d+\.jpg)": "images/svo_probes"},
        terms=f"at the addresses in {FILE}, each of its own, many of them dead; save what is left as <image_id>.jpg",
    ),
)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: a file is absent or not as published, or a set has no item whose images exist.
    """

    def images(row: AnnotationItem) -> list[str]:
        return [f"{files.images}/{row.whole(column)}.jpg" for column in ("pos_image_id", "neg_image_id")]

    def question(row: AnnotationItem) -> Question:
        return row.text("sentence"), images(row), 0

    complete = files.with_images(sets(files.rows(FILE, COLUMNS)), files.images, images)
    return files.suite({name: files.choices("t2i", list(map(question, rows))) for name, rows in complete.items()})


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
        raise row.field_fault(column, "wrong-kind", "is neither True nor False")
    return value == "true"
