"""ComVG: which of two images of Visual Genome a sentence describes (Jiang et al., 2024).

Read like ``ComVG/clip_baseline.py`` of eric-ai-lab/ComCLIP at 75ef16e: one accuracy over all rows, whether the
subject, the verb or the object differs. The rows whose verb differs are also a sub-task of their own, ``verb``.
"""

from recompose.tracks.vlc.data.formats.reading import (
    VISUAL_GENOME,
    AnnotationItem,
    Question,
    check_distinct,
    require_items,
)
from recompose.tracks.vlc.data.formats.sources import VISUAL_GENOME_PARTS, github, plain_files
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import SubTask

COLUMNS = ("id", "sentence", "pos_image_id", "neg_image_id", "neg_value")
FILE = "ComVG.csv"
VALUES = ("subject", "verb", "object")  # of neg_value: the part in which the images differ
SUBTASKS = (
    SubTask("comvg", "t2i", 5_400, "strict"),
    SubTask("comvg/verb", "t2i", 1_280, "strict"),  # another reading of it
)
MEANS = ("comvg", "comvg/verb")
LAYOUT = (
    f"<suite>/{FILE}, datasets/ComVG.csv of github.com/eric-ai-lab/ComCLIP, with the columns {', '.join(COLUMNS)}; "
    f"{VISUAL_GENOME}/<image id>.jpg, all images (visualgenome.org)"
)

ADDRESS = github("eric-ai-lab/ComCLIP", "75ef16ef2b92edf921f3732cd392b781e4dcd558")
SOURCES = (*plain_files("comvg", f"{ADDRESS}/datasets", "ComVG.csv"), *VISUAL_GENOME_PARTS)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: the file is absent or not as published.
    """
    rows = files.rows(FILE, COLUMNS)
    check_distinct(rows, "id")
    for row in rows:
        if row.text("neg_value") not in VALUES:
            raise row.field_fault("neg_value", "unknown-name", f"is none of {', '.join(VALUES)}")

    def question(row: AnnotationItem) -> Question:
        paths = [f"{VISUAL_GENOME}/{row.whole(key)}.jpg" for key in ("pos_image_id", "neg_image_id")]
        return row.text("sentence"), paths, 0

    questions = list(map(question, rows))
    verbs = [item for item, row in zip(questions, rows, strict=True) if row.text("neg_value") == "verb"]
    require_items(verbs, files.path(FILE), "verb")
    return files.suite({"": files.choices("t2i", questions), "verb": files.choices("t2i", verbs)})
