"""ColorSwap: pairs of images and captions with exchanged colours, to match (Burapacheep et al., 2024).

The 300 examples of its test split; image and caption of one number belong together (Top34051/colorswap at 4f2c9e4).
"""

from recompose.tracks.vlc.data.formats.reading import check_distinct
from recompose.tracks.vlc.data.formats.sources import Source, drive
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import SubTask

SUBTASKS = (SubTask("colorswap", "group", 300, "strict"),)  # its code reads answers in words
MEANS = ("colorswap",)
LAYOUT = (
    "<suite>/test.json, from the archive that github.com/Top34051/colorswap links to (Google Drive): "
    '[{"id", "caption_1", "caption_2", "image_1", "image_2"}, ...]; '
    "images/<suite>/<image>, such as images/<suite>/images/img_0_1.png (images.zip there); "
    "huggingface.co/datasets/stanfordnlp/colorswap has the same, for those with an account"
)

SOURCES = (
    Source(
        "colorswap/colorswap.zip",
        {r"(test\.json)": "colorswap", r"(img_\d+_[12]\.png)": "images/colorswap/images"},
        (drive("1xdG94DQdz_eQVH1lrEeaHVz_BNkrVgb5"),),
    ),
)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: the file is absent or not as published.
    """
    examples = files.items("test.json")
    check_distinct(examples, "id")
    return files.suite({"": files.groups(examples, (1, 2))})
