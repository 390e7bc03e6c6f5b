"""ImageCoDe: the described one of ten images, frames of a video or similar photographs (Krojer et al., 2022).

The validation set, read like ``baselines/clip/zero_shot.py`` of McGill-NLP/imagecode at 609f076: an object of folders,
each an object of descriptions by the number of their image. That is its position among the folder's files, in the order
of the numbers in their names (those of frames have gaps), so reading requires the images. Blanks around descriptions
are removed. Photographs are those of Open Images; all others are video.
"""

import re
from pathlib import Path

from recompose.data.paths import is_inside
from recompose.tracks.vlc.data.formats.reading import (
    AnnotationItem,
    Key,
    Question,
    fault,
    items,
    missing_error,
    read_document,
    require_items,
)
from recompose.tracks.vlc.data.suite import Collector, Suite

NAME = "imagecode"
FILE = "valid_data.json"
IMAGES = f"images/{NAME}"
CANDIDATES = 10
LAYOUT = f"""\
{NAME}/{FILE}: the folder data of github.com/McGill-NLP/imagecode
{IMAGES}/<set>/img<number>.jpg, {CANDIDATES} of each set: image-sets.zip of zenodo.org/record/6518944"""

_PLACES = [str(place) for place in range(CANDIDATES)]
_STATIC = "open-images"
_FILE_NAME = re.compile(r"img([0-9]{1,9})\.jpg")


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: a file is absent or not as published, or there are not ten images of a set.
    """
    path, collector = root / NAME / FILE, Collector()
    questions: dict[str, list[Question]] = {"video": [], "static": []}
    for name, item in read_sets(path):
        images = [collector.image(f"{IMAGES}/{name}/{file}") for file in _image_files(root / IMAGES / name, item)]
        for place in item.fields:
            query = collector.text(item.text(place).strip())
            questions["static" if _STATIC in name else "video"].append((query, images, _number(item, place)))
    tasks = {
        f"{NAME}/{name}": collector.choices("t2i", require_items(questions[name], path, name)) for name in questions
    }
    return collector.suite(NAME, tasks)


def read_sets(path: Path) -> list[tuple[str, AnnotationItem]]:
    """Return the sets of images of an annotation file: the name of each one's folder, and its descriptions.

    Raises:
        DataError: the file is absent or not as published, a folder lies outside, or a set has no description.
    """
    document = read_document(path, LAYOUT)
    if not isinstance(document, dict):
        raise fault(path, "expected an object of folders")
    sets = list(zip(document, items(document, path), strict=True))
    for name, item in sets:
        if not is_inside(name) or "/" in name or name == ".":
            raise item.fault(f"the images lie outside of {IMAGES}, where a folder of that name is required")
        require_items(list(item.fields), path, item.name)
    return sets


def _image_files(folder: Path, item: AnnotationItem) -> list[str]:
    names = [file.name for file in folder.iterdir() if file.suffix == ".jpg"] if folder.is_dir() else []
    unnumbered = [file_name for file_name in names if not _FILE_NAME.fullmatch(file_name)]
    if unnumbered or len(names) != CANDIDATES:
        wrong = f"a file {sorted(unnumbered)[0]}" if unnumbered else f"{len(names)} images instead of {CANDIDATES}"
        raise missing_error(f"{folder} has {wrong}, for {item.name} of {item.file}", LAYOUT)
    return sorted(names, key=_frame)


def _frame(name: str) -> int:
    return int(name.removeprefix("img").removesuffix(".jpg"))


def _number(item: AnnotationItem, place: Key) -> int:
    if place not in _PLACES:
        raise item.fault(f"{place!r} is not the number of an image, from 0 to {CANDIDATES - 1}")
    return _PLACES.index(place)
