"""CLIP-Binding: which of five pairs of colours and shapes an image of two objects shows (Lewis et al., 2024).

The generalization split of the data set of two objects, the one that CLIP-CAE reports (appendix L), read like
``ObjectDataset`` of marthaflinderslewis/clip-binding at bb6f55e: the true caption is first. A row is a true caption of
an image, so an image has several rows. Texts are those of its ``models/clip.py``, line 19, which puts ``PROMPT`` before
captions, without a space between. The sub-task ``plain`` has the captions alone.
"""

from recompose.tracks.vlc.data.formats.sources import Source
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import SubTask

FOLDER = "two_object/images/gen"  # among the suite's images
PROMPT = "a photo of"
CAPTIONS = ("pos", "neg_0", "neg_1", "neg_2", "neg_3")
SUBTASKS = (  # the true caption is first, and argmax takes the first
    SubTask("clip_binding", "i2t", None, "lenient"),
    SubTask("clip_binding/plain", "i2t", None, "lenient"),  # another reading of it
)
MEANS = ("clip_binding", "clip_binding/plain")
LAYOUT = (
    "<suite>/two_object/gen.csv, from the archive that github.com/marthaflinderslewis/clip-binding links to (Google "
    f"Drive), with the columns file_name, {', '.join(CAPTIONS)}; images/<suite>/{FOLDER}/<file_name> ({FOLDER} there)"
)

SOURCES = (
    Source(
        "clip_binding/*.zip",
        {r"(two_object/gen\.csv)": "clip_binding", r"(two_object/images/gen/[^/]+)": "images/clip_binding"},
        terms="in a folder of Google Drive that github.com/marthaflinderslewis/clip-binding links to",
    ),
)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: the file is absent or not as published.
    """
    rows = files.rows("two_object/gen.csv", ("file_name", *CAPTIONS))
    images = [row.path("file_name", f"{files.images}/{FOLDER}") for row in rows]
    tasks = {}
    for name, prompt in (("", PROMPT), ("plain", "")):
        captions = [[prompt + row.text(key) for key in CAPTIONS] for row in rows]
        tasks[name] = files.choices("i2t", [(*both, 0) for both in zip(images, captions, strict=True)])
    return files.suite(tasks)
