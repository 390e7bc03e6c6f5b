"""Winoground: two images and two captions of the same words, to be matched (Thrush et al., 2022).

Images are named without their suffix, ``.png``, as in the files of the first publication. Today's file of all images
and captions is unpacked into the same.
"""

import json
from pathlib import Path

from recompose.tracks.vlc.data.formats.parquet import image_bytes, parquet_rows
from recompose.tracks.vlc.data.formats.reading import AnnotationItem, check_distinct
from recompose.tracks.vlc.data.formats.sources import Source
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import SubTask

SUBTASKS = (SubTask("winoground", "group", 400, "strict"),)
MEANS = ("winoground",)
LICENCE = "research only"  # of annotations, as its repository or its paper states
STATE = "gated: its conditions have to be accepted"
LAYOUT = (
    "<suite>/examples.jsonl, data/examples.jsonl of huggingface.co/datasets/facebook/winoground, which is gated: "
    "accept its conditions (a parquet of images and captions, or an earlier revision's files): lines of "
    '{"id", "image_0", "image_1", "caption_0", "caption_1"}; '
    "images/<suite>/<image>.png (data/images.zip there)"
)
CAPTIONS, IMAGES = ("caption_0", "caption_1"), ("image_0", "image_1")


def unpack(parquet: Path, folder: Path) -> None:
    """Unpack the parquet of images and captions into a new folder, as the files of the first publication.

    Args:
        parquet: a table with ``id``, ``caption_<side>`` and ``image_<side>``, a structure with the ``bytes`` of a file.
        folder: the folder to create.

    Raises:
        DataError: the file is damaged or has other columns, or pyarrow is not installed.
    """
    folder.mkdir(parents=True)
    examples = [json.dumps(_unpack_example(item, folder)) for item in parquet_rows(parquet, ["id", *CAPTIONS, *IMAGES])]
    (folder / "examples.jsonl").write_text("\n".join(examples), encoding="utf-8")


def _unpack_example(item: AnnotationItem, folder: Path) -> dict[str, str | int]:
    number = item.whole("id")
    names = {image: f"ex_{number}_{image.replace('image', 'img')}" for image in IMAGES}
    for image, name in names.items():
        path = folder / f"{name}.png"
        if path.exists():
            raise item.field_fault("id", "duplicate-name", f"{number} is also that of another row")
        path.write_bytes(image_bytes(item, image))
    return {"id": number, **names, **{caption: item.text(caption) for caption in CAPTIONS}}


PLACES = {r"(examples\.jsonl)": "winoground", r"(ex_\d+_img_[01]\.png)": "images/winoground"}
PAGE = "https://huggingface.co/datasets/facebook/winoground"
FILE = f"{PAGE}/resolve/main/data/test-00000-of-00001.parquet"
TERMS = f"gated: accept the conditions at {PAGE}, and set HF_TOKEN; then `recompose data fetch winoground`"
EARLIER = f"of an earlier revision of {PAGE}; the parquet is enough"
SOURCES = (
    Source("winoground/*.parquet", PLACES, (FILE,), TERMS, unpack),
    Source("winoground/examples.jsonl", PLACES, terms=EARLIER),
    Source("winoground/images.zip", PLACES, terms=EARLIER),
)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: the file is absent or not as published.
    """
    examples = files.lines("examples.jsonl")
    check_distinct(examples, "id")
    return files.suite({"": files.groups(examples, (0, 1), ".png")})
