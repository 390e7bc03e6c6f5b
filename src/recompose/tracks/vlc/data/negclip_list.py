"""COCO's captions as prepared by NegCLIP's authors (Yuksekgonul et al., 2023), the corpus of most fine-tuned CLIPs.

``train_neg_clip.tsv`` is a table written by pandas, separated by tabs, with quotes around cells that hold quotes or
line ends: a column of row numbers without a name, ``title`` (the caption), ``filepath``
(``coco/train2014/COCO_train2014_ 000000000009.jpg``, of train2014 and val2014), ``neg_caption`` (a Python list of the
caption's hard negatives; the column may be absent), and ``neg_image``, which is unused here. Captions stay unchanged,
with blanks and line ends after some of them, and repeated rows count repeatedly, as in FSC-CLIP's loader
(ytaek-oh/fsc-clip at 604015d, ``CocoDataset``), which finds an image below ``images`` by its path without ``coco/``.
"""

from contextlib import suppress
from pathlib import Path

from recompose.data.paths import find_file, find_folder, name_as_listed
from recompose.errors import DataError
from recompose.tracks.vlc.data.captions import Captions
from recompose.tracks.vlc.data.formats.reading import AnnotationItem, missing_error, read_rows

LIST = "train_neg_clip.tsv"
MARK = LIST  # its presence means that a folder is complete
LAYOUT = (
    f"{LIST} (temp_data/{LIST} of github.com/mertyg/vision-language-models-are-bows), "
    "images/train2014/*.jpg and images/val2014/*.jpg (train2014.zip and val2014.zip of images.cocodataset.org/zips)"
)
_CAPTION, _IMAGE, _NEGATIVES = "title", "filepath", "neg_caption"
_SETS = ("train2014", "val2014")


def arrange(unpacked: Path, folder: Path) -> None:
    """Arrange the unpacked archives and the list in the common form.

    Raises:
        DataError: an archive lacks a file.
    """
    find_file(unpacked, LIST).rename(folder / LIST)
    (folder / "images").mkdir()
    for name in _SETS:
        find_folder(unpacked, name).rename(folder / "images" / name)
    with suppress(DataError):  # of a list that reading refuses
        name_as_listed(folder / "images", list(map(_image, _rows(folder))))


def annotation_files(root: Path) -> list[str]:
    """Return the files, beside images, that the corpus is read from."""
    return [LIST]


def read(root: Path) -> Captions:
    """Read and check the corpus.

    Args:
        root: the folder of the corpus, see ``LAYOUT``.

    Raises:
        DataError: a file is missing, the list has another form, or a row is malformed.
    """
    rows = _rows(root)
    captions = tuple(row.text(_CAPTION) for row in rows)
    paths = tuple(row.image_path("images", _image(row)) for row in rows)
    listed = [row.literal(_NEGATIVES) for row in rows if _NEGATIVES in row.fields]
    negatives = tuple(tuple(row.part(_NEGATIVES, list).all_texts()) for row in listed)
    missing = [path for path in dict.fromkeys(paths) if not (root / path).is_file()]
    if missing:
        raise missing_error(
            root / missing[0], f"and {len(missing) - 1} more images are missing", LAYOUT, "missing-image"
        )
    return Captions(paths, captions, negatives)


def _rows(root: Path) -> list[AnnotationItem]:
    return read_rows(root / LIST, LAYOUT, (_CAPTION, _IMAGE), "\t")


def _image(row: AnnotationItem) -> str:
    return row.text(_IMAGE).removeprefix("coco/")
