"""ImageCoDe: which of ten images, frames of a video or similar photographs, is described?

The validation set, as ``baselines/clip/zero_shot.py`` of McGill-NLP/imagecode at 609f076 reads it: an image's number is
its place among the ``.jpg`` files of its folder, in the order of the numbers in their names, so that folders have to be
there to be read. Descriptions are stripped of blanks around them. Photographs are those of Open Images; all else is
video.
"""

import re
from pathlib import Path

from recompose.data.paths import is_inside
from recompose.tracks.vlc.data.formats.reading import Item, read_items
from recompose.tracks.vlc.data.suite import Choices, Collector, Suite

NAME = "imagecode"
FILE = "valid_data.json"
IMAGES = f"images/{NAME}"
CANDIDATES = 10
LAYOUT = (
    f"{NAME}/{FILE}, from the folder data of github.com/McGill-NLP/imagecode: "
    '{"<folder>": {"<place of an image, from 0>": "<description>", ...}, ...}, where folders with open-images in their '
    f"names are static; {IMAGES}/<folder>/img<number>.jpg, {CANDIDATES} in each folder, from image-sets.zip of "
    "zenodo.org/record/6518944"
)

_STATIC = "open-images"
_NUMBERED = re.compile(r"img([0-9]{1,9})\.jpg")


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: a file is absent or not as published, or a folder has not ten images.
    """
    collector = Collector()
    sets: dict[str, list[tuple[int, list[int], int]]] = {"video": [], "static": []}
    for folder, item in _folders(root):
        images = [collector.image(path) for path in _images(root, folder, item)]
        for place in item.fields:
            true = Item(item.file, item.name, {"number of an image": place}).whole("number of an image", CANDIDATES)
            query = collector.text(item.text(place).strip())
            sets["static" if _STATIC in folder else "video"].append((query, images, true))
    return collector.suite(NAME, {f"{NAME}/{name}": collector.choices("t2i", found) for name, found in sets.items()})
