"""The field's own format on disk, ``xlsa17``: an index of images, attributes of classes, splits, lists of classes.

    <root>/res101.mat                  labels, image_files (and features, which are not read here)
    <root>/att_splits.mat              att, allclasses_names, trainval_loc, test_seen_loc, test_unseen_loc
    <root>/trainclasses1.txt, valclasses1.txt
    <root>/attributes.txt or .mat      names of attributes
    <root>/words.pkl or .npy           vectors of their words
    <root>/images/...

As Xian et al. (2019) publish it (proposed split, version 2), with silent assumptions of other readers turned into
errors.
A label is a position in ``allclasses_names``; the numbers in the names of CUB's classes are others.

Validation without a leak: ``trainval_loc`` divided by the classes of ``trainclasses1`` and ``valclasses1``. Its own
``train_loc`` and ``val_loc``, which generative methods use, also hold the test's images of seen classes.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

import numpy as np

from recompose.data.paths import find_file, find_folder, is_inside, name_as_listed
from recompose.errors import DataError
from recompose.files import read_text
from recompose.tracks.checks import check_counts, check_images
from recompose.tracks.gzsl.data.classes import SPLITS, ClassData
from recompose.tracks.gzsl.data.matlab import read_fields
from recompose.tracks.gzsl.data.word_vectors import read_words

INDEX, ATTRIBUTES_AND_SPLITS = "res101.mat", "att_splits.mat"
TRAIN_CLASSES, VALIDATION_CLASSES = "trainclasses1.txt", "valclasses1.txt"
NAMES = ("attributes.txt", "attributes.mat")
WORDS = ("words.pkl", "words.npy")
IMAGES = "images"
MARK = ATTRIBUTES_AND_SPLITS
LAYOUT = (
    f"{IMAGES}/, {INDEX}, {ATTRIBUTES_AND_SPLITS}, {TRAIN_CLASSES}, {VALIDATION_CLASSES}, "
    f"{' or '.join(NAMES)}, {' or '.join(WORDS)}"
)

_LABELS = f"labels are places in allclasses_names of {ATTRIBUTES_AND_SPLITS}, not the numbers in folders' names"
_IMAGE_FOLDERS = (IMAGES, "JPEGImages")  # names of the folder in image_files
_LENGTH_TOLERANCE = 1e-4


def read(root: Path, counts: Mapping[str, int] | None = None) -> ClassData:
    """Read and check a data set.

    Args:
        root: its folder.
        counts: those of its statistics that are known.

    Raises:
        DataError: a file or a field is missing or malformed, an image is in the folder of another class, splits or
            classes contradict each other, an image is missing, or a count is another one.
    """
    splits_file, index_file, names_file = root / ATTRIBUTES_AND_SPLITS, root / INDEX, single_file(root, NAMES)
    index = _fields(index_file, ("labels", "image_files"), optional=("hard",))
    fields = _fields(splits_file, ("att", "allclasses_names", *(f"{split}_loc" for split in SPLITS)))
    classes = _texts(fields["allclasses_names"], splits_file, "allclasses_names")
    labels = _numbers(index["labels"], index_file, "labels", len(classes), "class") - 1
    paths = _paths(_texts(index["image_files"], index_file, "image_files"), index_file)
    if len(paths) != len(labels):
        raise _fault("wrong-count", f"{index_file}: labels", f"{len(labels)} of {len(paths)} image_files")
    _check_labels(labels, paths, classes, index_file)
    splits = _splits({split: fields[f"{split}_loc"] for split in SPLITS}, len(labels), splits_file)
    seen = _seen(labels, splits, classes, splits_file)
    attributes, words = read_names(names_file), read_words(single_file(root, WORDS))
    if len(words) != len(attributes):
        fault = f"holds vectors of {len(words)} attributes, {names_file} has {len(attributes)}"
        raise _fault("wrong-count", single_file(root, WORDS), fault)
    data = ClassData(
        classes,
        attributes,
        _signatures(fields["att"], classes, attributes, splits_file),
        words,
        seen,
        _validation(root, classes, seen),
        paths,
        labels,
        splits,
        index["hard"].ravel().astype(bool) if "hard" in index else np.zeros(len(labels), dtype=bool),
    )
    check_counts(data.statistics, counts, root)
    check_images(data.paths, root)
    return data


def annotation_files(root: Path) -> list[str]:
    """Return the files that a data set is read from, without its images, as paths below its folder."""
    named = (single_file(root, NAMES).name, single_file(root, WORDS).name)
    return [INDEX, ATTRIBUTES_AND_SPLITS, TRAIN_CLASSES, VALIDATION_CLASSES, *named]


def single_file(root: Path, names: tuple[str, ...]) -> Path:
    """Return the one file of these that exists.

    Raises:
        DataError: none exists, or more than one.
    """
    present = [name for name in names if (root / name).is_file()]
    if len(present) != 1:
        fault = f"expected either {' or '.join(names)}, found {' and '.join(present) or 'neither'}"
        raise _fault("not-one-file", root, fault)
    return root / present[0]


def _fault(code: str, place: object, fault: str) -> DataError:
    return DataError(f"{place}: {fault}", code=code, place=place)


# fields


def _fields(path: Path, names: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
    fields = read_fields(path, {*names, *optional})
    missing = [name for name in names if name not in fields]
    if missing:
        fault = f"no such field; is it the {path.name} of xlsa17.zip?"
        raise _fault("missing-field", f"{path}: {missing[0]}", fault)
    return fields


def _texts(array: np.ndarray, path: Path, name: str) -> tuple[str, ...]:
    if array.dtype != object:
        raise _fault("wrong-type", f"{path}: {name}", "holds numbers, expected texts")
    return tuple(array.ravel())


def _numbers(array: np.ndarray, path: Path, name: str, most: int, kind: str) -> np.ndarray:
    """Return a column of whole numbers from 1 to ``most``, int64."""
    if array.dtype == object:
        raise _fault("wrong-type", f"{path}: {name}", "holds texts, expected numbers")
    column = array.ravel()
    wrong = np.flatnonzero(~np.isin(column, np.arange(1, most + 1)))
    if wrong.size:
        fault = f"{column[wrong[0]]} is the number of no {kind}, expected 1 to {most}"
        raise _fault("wrong-number", f"{path}: {name}, row {wrong[0] + 1}", fault)
    return column.astype(np.int64)


# images


def _check_labels(labels: np.ndarray, paths: tuple[str, ...], classes: tuple[str, ...], path: Path) -> None:
    """Check that images are in folders of their classes: SUN's ``a/airport/entrance`` is of ``airport_entrance``."""
    for row, (image, label) in enumerate(zip(paths, labels, strict=True), start=1):
        folders, name = PurePosixPath(image).parts[1:-1], classes[label]
        if name not in ("_".join(folders), "_".join(folders[1:])):
            fault = f"{image} has the label {label + 1}, which is {name}, and lies in the folder of another class"
            raise _fault("other-class", f"{path}: labels, row {row}", f"{fault}; {_LABELS}")


def _paths(names: tuple[str, ...], path: Path) -> tuple[str, ...]:
    """Return the paths of images below the data set's folder; the index has their paths on its authors' machine."""
    rows: dict[str, int] = {}
    for row, name in enumerate(names, start=1):
        place = _below_images(name)
        if place is None:
            fault = f"{name!r:.200} leads to no place below {' or '.join(_IMAGE_FOLDERS)}"
            raise _fault("outside-folder", f"{path}: image_files, row {row}", fault)
        if rows.setdefault(place, row) != row:
            fault = f"{place} is the image of row {rows[place]}, too"
            raise _fault("duplicate-image", f"{path}: image_files, row {row}", fault)
    return tuple(rows)


def _below_images(name: str) -> str | None:
    parts = PurePosixPath(name).parts
    folders = [place for place, part in enumerate(parts[:-1]) if part in _IMAGE_FOLDERS]
    if ".." in parts or not folders:
        return None
    place = "/".join((IMAGES, *parts[folders[-1] + 1 :]))
    return place if is_inside(place) else None


def _splits(locs: dict[str, np.ndarray], images: int, path: Path) -> np.ndarray:
    splits = np.full(images, "", dtype=f"U{max(map(len, SPLITS))}")
    for split, loc in locs.items():
        name = f"{split}_loc"
        rows = _numbers(loc, path, name, images, "image") - 1
        repeated = np.flatnonzero(splits[rows] != "")
        if repeated.size:
            image = rows[repeated[0]]
            fault = f"image {image + 1} is in {splits[image]}_loc, too"
            raise _fault("two-splits", f"{path}: {name}, row {repeated[0] + 1}", fault)
        splits[rows] = split
    nowhere = np.flatnonzero(splits == "")
    if nowhere.size:
        raise _fault("no-split", path, f"image {nowhere[0] + 1} of {images} is in no split")
    return splits


# classes


def _seen(labels: np.ndarray, splits: np.ndarray, classes: tuple[str, ...], path: Path) -> np.ndarray:
    """Return the classes [classes] bool of training."""
    has_images = {split: np.bincount(labels[splits == split], minlength=len(classes)) > 0 for split in SPLITS}
    seen, unseen = has_images["trainval"], has_images["test_unseen"]
    faults = (
        ("seen-and-unseen", seen & unseen, "images in trainval_loc and in test_unseen_loc: a class is seen or unseen"),
        ("untrained-class", has_images["test_seen"] & ~seen, "images in test_seen_loc and none in trainval_loc"),
        ("empty-class", ~seen & ~unseen, "no image"),
    )
    for code, wrong, fault in faults:
        if wrong.any():
            raise _fault(code, f"{path}: the class {classes[np.flatnonzero(wrong)[0]]}", f"has {fault}")
    return seen


def _validation(root: Path, classes: tuple[str, ...], seen: np.ndarray) -> np.ndarray:
    """Return the seen classes [classes] bool that validation treats as unseen."""
    train, validation = ({line for _, line in _lines(root / name)} for name in (TRAIN_CLASSES, VALIDATION_CLASSES))
    shown = {name for name, is_seen in zip(classes, seen, strict=True) if is_seen}
    if wrong := sorted((train & validation) | ((train | validation) ^ shown)):
        fault = f"{wrong[0]} is not in exactly one of {TRAIN_CLASSES} and {VALIDATION_CLASSES}, or is no seen class"
        raise _fault("wrong-classes", root, fault)
    return np.array([name in validation for name in classes], dtype=bool)


def _lines(path: Path) -> list[tuple[int, str]]:
    """Return the lines of a list with their numbers, without blank ones."""
    try:
        lines = read_text(path).split("\n")
    except OSError as error:
        raise _fault("damaged-file", path, f"cannot be read: {error}") from None
    return [(number, line.strip()) for number, line in enumerate(lines, start=1) if line.strip()]


# attributes


def read_names(path: Path) -> tuple[str, ...]:
    """Return the names of attributes: lines of a number, from 1, and a name, or ``attributes`` of a MATLAB file.

    Raises:
        DataError: no such file, or not a list of names.
    """
    if path.suffix == ".mat":
        return _texts(_fields(path, ("attributes",))["attributes"], path, "attributes")
    names = []
    for expected, (number, line) in enumerate(_lines(path), start=1):
        count, _, name = line.replace("\t", " ").partition(" ")
        if count != str(expected) or not name.strip():
            fault = f"expected {expected} and the name of an attribute, found {line!r}"
            raise _fault("wrong-line", f"{path}:{number}", fault)
        names.append(name.strip())
    return tuple(names)


def _signatures(att: np.ndarray, classes: tuple[str, ...], attributes: tuple[str, ...], path: Path) -> np.ndarray:
    """Return the strengths of attributes in classes [classes, attributes] float32, rows of unit length."""
    place, sides = f"{path}: att", (len(attributes), len(classes))
    if att.dtype == object or att.shape != sides:
        raise _fault("wrong-shape", place, f"is {att.shape} of {att.dtype}, expected numbers {sides}")
    lengths = np.linalg.norm(att.astype(np.float64), axis=0)
    for column in np.flatnonzero(~(np.abs(lengths - 1) <= _LENGTH_TOLERANCE))[:1]:
        fault = f"{classes[column]} has the length {lengths[column]:.6g}"
        remedy = "expected columns of unit length: original_att divided by their lengths"
        raise _fault("wrong-length", f"{place}, column {column + 1}", f"{fault}, {remedy}")
    return np.ascontiguousarray(att.T, dtype=np.float32)


# from archives to the data set's folder


def arrange(unpacked: Path, root: Path, *, name: str, images: str, attributes: str) -> None:
    """Move unpacked archives into the layout above; the vectors of words are not part of them.

    Args:
        unpacked: a folder of unpacked archives.
        root: the data set's folder.
        name: the data set's name in ``xlsa17.zip``.
        images: the folder of its images, by the end of its path.
        attributes: the file with the names of its attributes, by the end of its path.

    Raises:
        DataError: a file is absent, or present more than once.
    """
    splits = find_folder(unpacked, f"xlsa17/data/{name}")
    for file in (INDEX, ATTRIBUTES_AND_SPLITS, TRAIN_CLASSES, VALIDATION_CLASSES):
        find_file(splits, file).rename(root / file)
    names = find_file(unpacked, attributes)
    names.rename(root / f"attributes{names.suffix}")
    find_folder(unpacked, images).rename(root / IMAGES)
    with suppress(DataError):  # of an index that reading refuses
        index = _fields(root / INDEX, ("image_files",))
        name_as_listed(root, _paths(_texts(index["image_files"], root / INDEX, "image_files"), root / INDEX))
