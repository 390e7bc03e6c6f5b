"""Winoground: two images and two captions of the same words, to be matched (Thrush et al., 2022).

Images are named without their suffix, ``.png``, as in the files of the first publication.
"""

from recompose.tracks.vlc.data.formats.reading import check_distinct
from recompose.tracks.vlc.data.formats.suite_files import SuiteFiles
from recompose.tracks.vlc.data.suite import Suite

LAYOUT = (
    "<suite>/examples.jsonl, data/examples.jsonl of huggingface.co/datasets/facebook/winoground, which is gated: "
    "accept its conditions (it is parquet today; an earlier revision has this file): lines of "
    '{"id", "image_0", "image_1", "caption_0", "caption_1"}; '
    "images/<suite>/<image>.png (data/images.zip there)"
)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: the file is absent or not as published.
    """
    examples = files.lines("examples.jsonl")
    check_distinct(examples, "id")
    return files.suite({"": files.groups(examples, (0, 1), ".png")})
