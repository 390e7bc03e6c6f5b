"""ImageCoDe: the described one of ten images, frames of a video or similar photographs (Krojer et al., 2022).

The validation set, read like ``baselines/clip/zero_shot.py`` of McGill-NLP/imagecode at 609f076: an object of folders,
each an object of descriptions by the number of their image. That is its position among the folder's files, in the order
of the numbers in their names (those of frames have gaps), so reading requires the images. Blanks around descriptions
are removed. Photographs are those of Open Images; all others are video.
"""

import re

from recompose.data.paths import files_below
from recompose.tracks.vlc.data.formats.reading import AnnotationItem, Question, items, missing_error, require_items
from recompose.tracks.vlc.data.formats.sources import archive, github, plain_files
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import micro, subtasks, suite

FILE = "valid_data.json"
CANDIDATES = 10
# sorted, with an unspecified order of equal scores
SUBTASKS = tuple(subtasks("imagecode", {"video": 1_872, "static": 430}, "t2i", "strict"))
MEANS = (suite(micro("imagecode", "video", "static")),)
LICENCE = "MIT"  # of annotations, as its repository or its paper states
STATE = "published, without the answers of its test split"
LAYOUT = f"""\
<suite>/{FILE}: the folder data of github.com/McGill-NLP/imagecode
images/<suite>/<set>/img<number>.jpg, {CANDIDATES} of each set: image-sets.zip of zenodo.org/record/6518944"""
ADDRESS = github("McGill-NLP/imagecode", "609f07611aed2599f946c30d730f40a41af1079b")
IMAGE_SETS = "https://zenodo.org/record/6518944/files/image-sets.zip"
SOURCES = (
    *plain_files("imagecode", f"{ADDRESS}/data", FILE),
    archive("imagecode", IMAGE_SETS, {r"image-sets/([^/]+/img\d+\.jpg)": "images/imagecode"}),
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
    path, document = files.path(FILE), files.document(FILE)
    for item, name in zip(items(document, path), document, strict=True):
        images = _images(files, item, item.image_path(files.images, str(name)))
        for place in require_items(list(item.fields), path, item.name):
            if place not in _PLACES:
                message = f"{place!r} is not the number of an image, from 0 to {CANDIDATES - 1}"
                raise item.fault("wrong-number", message)
            question = item.text(place).strip(), images, _PLACES.index(place)
            questions["static" if _STATIC in name else "video"].append(question)
    return files.suite({name: files.choices("t2i", require_items(questions[name], path, name)) for name in questions})


def _images(files: SuiteFiles, item: AnnotationItem, folder: str) -> list[str]:
    """Return the paths of a set's images, in the order of their frames."""
    path = files.root / folder
    names = [file.name for file in files_below(path) if file.suffix == ".jpg" and file.parent == path]
    frames = {name: int(match[1]) for name in names if (match := _FILE_NAME.fullmatch(name))}
    if len(names) != CANDIDATES or len(frames) != CANDIDATES:
        fault = f"has {len(frames)} images img<number>.jpg among {len(names)}, instead of {CANDIDATES}"
        raise missing_error(path, f"{fault}, for {item.name} of {item.file}", files.layout, "missing-image")
    return [f"{folder}/{name}" for name in sorted(names, key=frames.__getitem__)]
