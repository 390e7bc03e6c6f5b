"""ImageCoDe: the described one of ten images, frames of a video or similar photographs (Krojer et al., 2022).

The validation set, read like ``baselines/clip/zero_shot.py`` of McGill-NLP/imagecode at 609f076: an object of folders,
each an object of descriptions by the number of their image. That is its position among the folder's files, in the order
of the numbers in their names (those of frames have gaps), so reading requires the images. Blanks around descriptions
are removed. Photographs are those of Open Images; all others are video.
"""

import re

from recompose.data.paths import files_below, is_inside
from recompose.tracks.vlc.data.formats.reading import (
    AnnotationItem,
    Key,
    Question,
    fault,
    items,
    missing_error,
    require_items,
)
from recompose.tracks.vlc.data.formats.sources import Source, github, plain_files
from recompose.tracks.vlc.data.formats.suite_files import SuiteFiles
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.means import micro, suite
from recompose.tracks.vlc.suites.subtasks import subtasks

FILE = "valid_data.json"
CANDIDATES = 10
# sorted, with an unspecified order of equal scores
SUBTASKS = tuple(subtasks("imagecode", {"video": 1_872, "static": 430}, "t2i", 10, "strict"))
MEANS = (suite(micro("imagecode", "video", "static")),)
LICENCE = "MIT"  # of annotations, as its repository or its paper states
STATE = "published, without the answers of its test split"
LAYOUT = f"""\
<suite>/{FILE}: the folder data of github.com/McGill-NLP/imagecode
images/<suite>/<set>/img<number>.jpg, {CANDIDATES} of each set: image-sets.zip of zenodo.org/record/6518944"""
SOURCES = (
    *plain_files(
        "imagecode", github("McGill-NLP/imagecode", "609f07611aed2599f946c30d730f40a41af1079b") + "/data", FILE
    ),
    Source(
        "imagecode/image-sets.zip",
        {r"image-sets/([^/]+/img\d+\.jpg)": "images/imagecode"},
        ("https://zenodo.org/record/6518944/files/image-sets.zip",),
    ),
)

_PLACES = [str(place) for place in range(CANDIDATES)]
_STATIC = "open-images"
_FILE_NAME = re.compile(r"img([0-9]{1,9})\.jpg")


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: a file is absent or not as published, or there are not ten images of a set.
    """
    questions: dict[str, list[Question]] = {"video": [], "static": []}
    for name, item in _sets(files):
        folder = f"{files.images}/{name}"
        images = [files.collector.image(f"{folder}/{file}") for file in _image_files(files, folder, item)]
        for place in item.fields:
            query = files.collector.text(item.text(place).strip())
            questions["static" if _STATIC in name else "video"].append((query, images, _number(item, place)))
    path = files.path(FILE)
    return files.suite({name: files.choices("t2i", require_items(questions[name], path, name)) for name in questions})


def _sets(files: SuiteFiles) -> list[tuple[str, AnnotationItem]]:
    """Return the sets of images: the name of each one's folder, and its descriptions."""
    path, document = files.path(FILE), files.document(FILE)
    if not isinstance(document, dict):
        raise fault(path, "wrong-kind", "expected an object of folders")
    sets = list(zip(document, items(document, path), strict=True))
    for name, item in sets:
        if not is_inside(name) or "/" in name or name == ".":
            message = f"the images lie outside of {files.images}, where a folder of that name is required"
            raise item.fault("outside-folder", message)
        require_items(list(item.fields), path, item.name)
    return sets


def _image_files(files: SuiteFiles, folder: str, item: AnnotationItem) -> list[str]:
    path = files.root / folder
    names = [file.name for file in files_below(path) if file.suffix == ".jpg" and file.parent == path]
    unnumbered = [file_name for file_name in names if not _FILE_NAME.fullmatch(file_name)]
    if unnumbered or len(names) != CANDIDATES:
        wrong = f"a file {sorted(unnumbered)[0]}" if unnumbered else f"{len(names)} images instead of {CANDIDATES}"
        code = "unknown-name" if unnumbered else "missing-image"
        raise missing_error(path, f"has {wrong}, for {item.name} of {item.file}", files.layout, code)
    return sorted(names, key=_frame)


def _frame(name: str) -> int:
    return int(name.removeprefix("img").removesuffix(".jpg"))


def _number(item: AnnotationItem, place: Key) -> int:
    if place not in _PLACES:
        raise item.fault("wrong-number", f"{place!r} is not the number of an image, from 0 to {CANDIDATES - 1}")
    return _PLACES.index(place)
