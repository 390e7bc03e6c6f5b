"""BiVLC: COCO's images and captions, SugarCrepe's false captions, and generated images of these (Miranda et al., 2024).

Each item is a group of two images and two captions, as in Winoground. Read like ``evaluate_BiVLC`` of
``src/CLIP_fine_tuning/CLIP_utils.py`` of IMirandaM/BiVLC at 84f0d17: every comparison is ">". Its I2T, T2I and group
scores are the text, image and group scores of Winoground, over all items and over each of the three types of changes.

The data set is published as parquet files that contain the images. Here it is a file of their rows, and the images as
files, byte for byte.
"""

from recompose.tracks.vlc.data.formats.reading import AnnotationItem
from recompose.tracks.vlc.data.formats.suite_files import SuiteFiles
from recompose.tracks.vlc.data.suite import Groups, Suite

TYPES = ("replace", "swap", "add")
SIDES = ("", "negative_")  # prefixes of the fields of an image and its caption
LAYOUT = (
    "<suite>/test.jsonl: the rows of data/test-*.parquet of huggingface.co/datasets/imirandam/BiVLC, one a line: "
    '{"image", "caption", "negative_image", "negative_caption", "type"}, where image and negative_image name files; '
    "images/<suite>/<file>: the bytes that these two columns hold there"
)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: the file is absent or not as published, or a type of changes is unknown.
    """
    items: dict[str, list[AnnotationItem]] = {kind: [] for kind in TYPES}
    for item in files.lines("test.jsonl"):
        if (kind := item.text("type")) not in items:
            raise item.field_fault("type", "unknown-name", f"is {kind!r}, none of {', '.join(TYPES)}")
        items[kind].append(item)
    return files.suite({kind: _groups(files, part) for kind, part in items.items() if part})


def _groups(files: SuiteFiles, items: list[AnnotationItem]) -> Groups:
    return files.collector.groups(
        [[files.image(item, f"{side}image", files.images) for side in SIDES] for item in items],
        [files.texts(item, *(f"{side}caption" for side in SIDES)) for item in items],
    )
