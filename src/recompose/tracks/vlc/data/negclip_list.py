"""COCO's captions as prepared by NegCLIP's authors (Yuksekgonul et al., 2023), the corpus of most fine-tuned CLIPs.

``train_neg_clip.tsv`` is a table written by pandas, separated by tabs, with quotes around cells that hold quotes or
line ends: a column of row numbers without a name, ``title`` (the caption), ``filepath``
(``coco/train2014/COCO_train2014_ 000000000009.jpg``, of train2014 and val2014), ``neg_caption`` (a Python list of the
caption's hard negatives; the column may be absent), and ``neg_image``, which is unused here. Captions stay unchanged,
with blanks and line ends after some of them, and repeated rows count repeatedly, as in FSC-CLIP's loader
(ytaek-oh/fsc-clip at 604015d, ``CocoDataset``), which finds an image below ``images`` by its path without ``coco/``.
"""

import ast
import csv
import io
from contextlib import suppress
from pathlib import Path

from recompose.data.paths import find_file, find_folder, is_inside, name_as_listed
from recompose.errors import DataError
from recompose.files import read_text
from recompose.tracks.vlc.data.captions import Captions

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
        name_as_listed(folder / "images", [name.removeprefix("coco/") for _, _, name, _ in _rows(folder / LIST)])


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
    paths, captions, negatives = [], [], []
    for number, caption, name, listed in _rows(root / LIST):
        if not caption.strip():
            raise _error(root / LIST, f"row {number}", "empty-text", "the caption is empty; correct or remove the row")
        path = f"images/{name.removeprefix('coco/')}"
        if not is_inside(name) or not is_inside(name.removeprefix("coco/")):
            message = f"the image {name!r} lies outside of {root / 'images'}"
            raise _error(root / LIST, f"row {number}", "outside-folder", message)
        paths.append(path)
        captions.append(caption)
        if listed is not None:
            negatives.append(_texts(listed, root / LIST, number))
    if not paths:
        message = f"{root / LIST} has no rows; replace it with the published file"
        raise DataError(message, code="no-items", place=root / LIST)
    missing = [path for path in dict.fromkeys(paths) if not (root / path).is_file()]
    if missing:
        first = root / missing[0]
        message = f"{first} and {len(missing) - 1} more images are missing. Required files: {LAYOUT}"
        raise DataError(message, code="missing-image", place=first)
    return Captions(tuple(paths), tuple(captions), tuple(negatives))


def _texts(cell: str, path: Path, number: int) -> tuple[str, ...]:
    """Return the texts of a cell that holds a list of them as Python writes it."""
    try:
        texts = ast.literal_eval(cell)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        texts = None
    if not isinstance(texts, list) or not all(isinstance(text, str) and text.strip() for text in texts):
        message = f"{_NEGATIVES} is no list of texts in brackets and quotes; correct the row"
        raise _error(path, f"row {number}", "wrong-type", message)
    return tuple(texts)


def _rows(path: Path) -> list[tuple[int, str, str, str | None]]:
    """Return the number, the caption, the image and, with such a column, the negatives of each row."""
    reader = csv.reader(io.StringIO(_text(path), newline=""), delimiter="\t", strict=True)
    rows = []
    try:
        header = next(reader, [])
        for column in (_CAPTION, _IMAGE):
            if header.count(column) != 1:
                message = f"expected one column {column!r}, found {header.count(column)}"
                raise _error(path, "line 1", "missing-field", message)
        caption, image = header.index(_CAPTION), header.index(_IMAGE)
        negatives = header.index(_NEGATIVES) if _NEGATIVES in header else None
        for number, cells in enumerate(filter(None, reader), start=1):
            if len(cells) != len(header):
                message = f"{len(cells)} cells in {len(header)} columns; correct the row"
                raise _error(path, f"row {number}", "wrong-count", message)
            listed = None if negatives is None else cells[negatives]
            rows.append((number, cells[caption], cells[image], listed))
    except csv.Error as error:
        raise _error(path, f"line {reader.line_num}", "no-csv", f"not a table with tabs ({error})") from None
    return rows


def _text(path: Path) -> str:
    try:
        return read_text(path, newline="")
    except FileNotFoundError:
        message = f"{path} is missing. Required files: {LAYOUT}"
        raise DataError(message, code="missing-file", place=path) from None


def _error(path: Path, part: str, code: str, fault: str) -> DataError:
    """Return the error of a row or another part of the list."""
    return DataError(f"{path}, {part}: {fault}", code=code, place=f"{path}, {part}")
