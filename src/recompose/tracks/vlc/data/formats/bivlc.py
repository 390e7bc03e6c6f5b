"""BiVLC: COCO's images and captions, SugarCrepe's false captions, and generated images of these (Miranda et al., 2024).

Each item is a group of two images and two captions, as in Winoground. Read like ``evaluate_BiVLC`` of
``src/CLIP_fine_tuning/CLIP_utils.py`` of IMirandaM/BiVLC at 84f0d17: every comparison is ">". Its I2T, T2I and group
scores are the text, image and group scores of Winoground, over all items and over each of the three types of changes.

The data set is published as two parquet files that contain the images. They are unpacked into a file of rows for each
of them, and the images as files, byte for byte.
"""

import json
from pathlib import Path

from recompose.tracks.vlc.data.formats.parquet import image_bytes, parquet_rows
from recompose.tracks.vlc.data.formats.reading import AnnotationItem
from recompose.tracks.vlc.data.formats.sources import Source
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import in_sense, micro, subtasks, suite
from recompose.tracks.vlc.suites.tasks import Groups

TYPES = {"replace": 2_099, "swap": 359, "add": 475}
SIDES = ("", "negative_")  # prefixes of the fields of an image and its caption
SHARDS = ("test-00000-of-00002", "test-00001-of-00002")
WHOLE, FILES = "test.jsonl", tuple(f"{shard}.jsonl" for shard in SHARDS)
SUBTASKS = tuple(subtasks("bivlc", TYPES, "group", "strict"))
MEAN = suite(micro("bivlc", *TYPES))  # over all items, as in its released code
MEANS = (MEAN, in_sense(MEAN, "text"), in_sense(MEAN, "image"))
IS_DRAWN = False  # of no paper here: it has no synthetic data
LAYOUT = (
    f"<suite>/{', <suite>/'.join(FILES)}, or both as <suite>/{WHOLE}: the rows of data/test-*.parquet of "
    "huggingface.co/datasets/imirandam/BiVLC, one a line: "
    '{"image", "caption", "negative_image", "negative_caption", "type"}, where image and negative_image name files; '
    "images/<suite>/<file>: the bytes that these two columns hold there"
)


def unpack(parquet: Path, folder: Path) -> None:
    """Unpack a parquet file of rows with their images into a new folder.

    Args:
        parquet: a table with the fields of a row, in which images are structures with the ``bytes`` of a file.
        folder: the folder to create.

    Raises:
        DataError: the file is damaged or has other columns, or pyarrow is not installed.
    """
    folder.mkdir(parents=True)
    fields = [f"{side}{field}" for side in SIDES for field in ("image", "caption")]
    lines = []
    for number, row in enumerate(parquet_rows(parquet, [*fields, "type"])):
        names = {f"{side}image": f"{parquet.stem}_{number}_{side}image.jpg" for side in SIDES}
        for column, name in names.items():
            (folder / name).write_bytes(image_bytes(row, column))
        texts = {field: row.text(field) for field in [*fields, "type"] if field not in names}
        lines.append(json.dumps({**names, **texts}))
    (folder / f"{parquet.stem}.jsonl").write_text("\n".join(lines), encoding="utf-8")


SOURCES = tuple(
    Source(
        f"bivlc/{shard}.parquet",
        {rf"({shard}\.jsonl)": "bivlc", rf"({shard}_\d+_(?:negative_)?image\.jpg)": "images/bivlc"},
        (f"https://huggingface.co/datasets/imirandam/BiVLC/resolve/main/data/{shard}.parquet",),
        unpack=unpack,
    )
    for shard in SHARDS
)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: the file is absent or not as published, or a type of changes is unknown.
    """
    items: dict[str, list[AnnotationItem]] = {kind: [] for kind in TYPES}
    names = [WHOLE] if files.path(WHOLE).exists() else FILES
    for item in [item for name in names for item in files.lines(name)]:
        if (kind := item.text("type")) not in items:
            raise item.field_fault("type", "unknown-name", f"is {kind!r}, none of {', '.join(TYPES)}")
        items[kind].append(item)
    return files.suite({kind: _groups(files, part) for kind, part in items.items() if part})


def _groups(files: SuiteFiles, items: list[AnnotationItem]) -> Groups:
    return files.pairs(
        [[item.path(f"{side}image", files.images) for side in SIDES] for item in items],
        [[item.text(f"{side}caption") for side in SIDES] for item in items],
    )
