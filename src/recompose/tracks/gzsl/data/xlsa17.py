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

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from recompose.data.paths import find_file, find_folder, is_inside, name_as_listed
from recompose.errors import DataError
from recompose.files import read_text
from recompose.tracks.gzsl.data.classes import SPLITS, ClassData
from recompose.tracks.gzsl.data.matlab import read_fields
from recompose.tracks.gzsl.data.word_vectors import read_words

INDEX, ATTRIBUTES_AND_SPLITS = "res101.mat", "att_splits.mat"
TRAIN_CLASSES, VALIDATION_CLASSES = "trainclasses1.txt", "valclasses1.txt"
NAMES = ("attributes.txt", "attributes.mat")
WORDS = ("words.pkl", "words.npy")
IMAGES = "images"
LAYOUT = (
    f"{IMAGES}/, {INDEX}, {ATTRIBUTES_AND_SPLITS}, {TRAIN_CLASSES}, {VALIDATION_CLASSES}, "
    f"{' or '.join(NAMES)}, {' or '.join(WORDS)}"
)

_LABELS = f"labels are places in allclasses_names of {ATTRIBUTES_AND_SPLITS}, not the numbers in folders' names"
_IMAGE_FOLDERS = (IMAGES, "JPEGImages")  # names of the folder in image_files
_LENGTH_TOLERANCE = 1e-4


@dataclass(frozen=True)
class Counts:
    """The counts that papers print, under the names of ``ClassData.statistics``."""

    images: int
    attributes: int
    seen_classes: int
    unseen_classes: int
    validation_classes: int
    trainval_images: int
    test_seen_images: int
    test_unseen_images: int
    training_images: int
    validation_images: int


def read(root: Path, expected: Counts, class_of: Callable[[tuple[str, ...]], str] | None = None) -> ClassData:
    """Read and check a data set.

    Args:
        root: its folder.
        expected: its counts.
        class_of: a function from the folders of an image below ``images`` to the name of its class, to detect labels
            that count classes in another order.

    Raises:
        DataError: a file or a field is missing or malformed, an image is in the folder of another class, splits or
            classes contradict each other, an image is missing, or the counts are not the expected ones.
    """
    splits_file = root / ATTRIBUTES_AND_SPLITS
    index = _fields(root / INDEX, ("labels", "image_files"), optional=("hard",))
    fields = _fields(splits_file, ("att", "allclasses_names", *(f"{split}_loc" for split in SPLITS)))
    classes = _distinct(_texts(fields["allclasses_names"], splits_file, "allclasses_names"), splits_file, "class")
    names_file = single_file(root, NAMES)
    attributes = _distinct(read_names(names_file), names_file, "attribute")
    labels = _numbers(index["labels"], root / INDEX, "labels", len(classes), "class") - 1
    paths = _paths(_texts(index["image_files"], root / INDEX, "image_files"), root / INDEX)
    if len(paths) != len(labels):
        raise _fault("wrong-count", f"{root / INDEX}: labels", f"{len(labels)} of {len(paths)} image_files")
    _check_counts({"images": len(paths), "attributes": len(attributes)}, expected, root)
    if class_of:
        _check_labels(labels, paths, classes, root / INDEX, class_of)
    splits = _splits({split: fields[f"{split}_loc"] for split in SPLITS}, len(labels), splits_file)
    seen = _seen(labels, splits, classes, splits_file)
    data = ClassData(
        classes,
        attributes,
        _signatures(fields["att"], classes, attributes, splits_file, names_file),
        _words(single_file(root, WORDS), len(attributes), names_file),
        seen,
        _validation(root, classes, seen),
        paths,
        labels,
        splits,
        _hard(index.get("hard"), len(labels), root / INDEX),
    )
    _check_counts(data.statistics, expected, root)
    _check_images(data, root)
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


def _column(array: np.ndarray, path: Path, name: str) -> np.ndarray:
    if array.ndim > 2 or min(array.shape, default=0) > 1:
        raise _fault("wrong-shape", f"{path}: {name}", f"is {_sides(array)}, expected one column")
    return array.ravel()


def _texts(array: np.ndarray, path: Path, name: str) -> tuple[str, ...]:
    if array.dtype != object:
        raise _fault("wrong-type", f"{path}: {name}", "holds numbers, expected texts")
    return tuple(_column(array, path, name))


def _numbers(array: np.ndarray, path: Path, name: str, most: int, kind: str) -> np.ndarray:
    """Return a column of whole numbers from 1 to ``most``, int64."""
    if array.dtype == object:
        raise _fault("wrong-type", f"{path}: {name}", "holds texts, expected numbers")
    column = _column(array, path, name)
    whole = column >= 1
    whole &= (column <= most) & (column == np.floor(column))  # false for NaN
    wrong = np.flatnonzero(~whole)
    if wrong.size:
        fault = f"{column[wrong[0]]} is the number of no {kind}, expected 1 to {most}"
        raise _fault("wrong-number", f"{path}: {name}, row {wrong[0] + 1}", fault)
    return column.astype(np.int64)


def _sides(array: np.ndarray) -> str:
    return " x ".join(map(str, array.shape))


def _distinct(names: tuple[str, ...], path: Path, kind: str) -> tuple[str, ...]:
    rows: dict[str, int] = {}
    for row, name in enumerate(names, start=1):
        if not name.strip():
            raise _fault("no-name", f"{path}: {kind} {row}", "has no name")
        if rows.setdefault(name, row) != row:
            raise _fault("duplicate-name", f"{path}: {kind} {row}", f"is called {name}, as {kind} {rows[name]} is")
    return names


# images


def _check_labels(
    labels: np.ndarray,
    paths: tuple[str, ...],
    classes: tuple[str, ...],
    path: Path,
    class_of: Callable[[tuple[str, ...]], str],
) -> None:
    """Check that images are in folders of their classes."""
    for row, (image, label) in enumerate(zip(paths, labels, strict=True), start=1):
        folder, name = class_of(PurePosixPath(image).parts[1:-1]), classes[label]
        if folder != name:
            fault = f"{image} has the label {label + 1}, which is {name}, and lies in the folder of {folder}"
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
        if len(np.unique(rows)) != len(rows):
            numbers, counts = np.unique(rows, return_counts=True)
            fault = f"image {numbers[counts > 1][0] + 1} occurs twice"
            raise _fault("duplicate-image", f"{path}: {name}", fault)
    nowhere = np.flatnonzero(splits == "")
    if nowhere.size:
        raise _fault("no-split", path, f"image {nowhere[0] + 1} of {images} is in no split")
    return splits


def _hard(array: np.ndarray | None, images: int, path: Path) -> np.ndarray:
    if array is None:
        return np.zeros(images, dtype=bool)
    column = _column(array, path, "hard")
    if column.dtype == object or len(column) != images or not np.isin(column, (0, 1)).all():
        fault = f"is {_sides(array)}, expected 0 or 1 for each of {images} images"
        raise _fault("wrong-flags", f"{path}: hard", fault)
    return column.astype(bool)


def _check_images(data: ClassData, root: Path) -> None:
    # os.path.isfile, because it never raises
    missing = [path for path in data.paths if not os.path.isfile(root / path)]  # noqa: PTH113
    if missing:
        fault = f"is missing, as the first of {len(missing)} of {len(data.paths)} images"
        raise _fault("missing-image", root / missing[0], fault)


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
    places = {name: place for place, name in enumerate(classes)}
    listed = dict.fromkeys(places, "")
    for name in (TRAIN_CLASSES, VALIDATION_CLASSES):
        for number, line in _lines(root / name):
            where = f"{root / name}:{number}"
            if line not in places:
                fault = f"{line} is none of allclasses_names in {ATTRIBUTES_AND_SPLITS}"
                raise _fault("unknown-class", where, fault)
            if not seen[places[line]]:
                fault = f"{line} is an unseen class of the test; training and validation must not use it"
                raise _fault("unseen-class", where, fault)
            if listed[line]:
                raise _fault("duplicate-class", where, f"{line} is in {listed[line]} already")
            listed[line] = name
    forgotten = [name for name in classes if seen[places[name]] and not listed[name]]
    if forgotten:
        fault = f"the seen class {forgotten[0]} is in neither {TRAIN_CLASSES} nor {VALIDATION_CLASSES}"
        raise _fault("unlisted-class", root, fault)
    return np.array([listed[name] == VALIDATION_CLASSES for name in classes], dtype=bool)


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


def _signatures(
    att: np.ndarray, classes: tuple[str, ...], attributes: tuple[str, ...], path: Path, names: Path
) -> np.ndarray:
    """Return the strengths of attributes in classes [classes, attributes] float32, rows of unit length."""
    place = f"{path}: att"
    if att.dtype == object or att.ndim != 2:
        fault = f"is {_sides(att)} and {att.dtype}, expected numbers [attributes, classes]"
        raise _fault("wrong-shape", place, fault)
    if att.shape[1] != len(classes):
        fault = f"is {_sides(att)}, expected a column for each of {len(classes)} allclasses_names"
        raise _fault("wrong-shape", place, fault)
    if att.shape[0] != len(attributes):
        fault = f"is {_sides(att)}, expected a row for each of {len(attributes)} names in {names}"
        raise _fault("wrong-shape", place, fault)
    wrong = np.argwhere(~np.isfinite(att))
    if wrong.size:
        row, column = wrong[0]
        fault = f"is {att[row, column]} for {attributes[row]} and {classes[column]}"
        raise _fault("not-finite", f"{place}, row {row + 1}, column {column + 1}", fault)
    lengths = np.linalg.norm(att.astype(np.float64), axis=0)
    for column in np.flatnonzero(np.abs(lengths - 1) > _LENGTH_TOLERANCE)[:1]:
        fault = "has no attribute at all" if lengths[column] == 0 else f"has the length {lengths[column]:.6g}"
        remedy = "expected columns of unit length: original_att divided by their lengths"
        raise _fault("wrong-length", f"{place}, column {column + 1}", f"{classes[column]} {fault}, {remedy}")
    return np.ascontiguousarray(att.T, dtype=np.float32)


def _words(path: Path, attributes: int, names: Path) -> np.ndarray:
    words = read_words(path)
    if len(words) != attributes:
        raise _fault("wrong-count", path, f"holds vectors of {len(words)} attributes, {names} has {attributes}")
    return words


def _check_counts(counts: Mapping[str, int], expected: Counts, root: Path) -> None:
    """Check those of the expected counts that are known."""
    wrong = [
        f"{name.replace('_', ' ')}: {counts[name]} instead of {right}"
        for name, right in asdict(expected).items()
        if counts.get(name, right) != right
    ]
    if wrong:
        fault = f"is not the data set it should be ({'; '.join(wrong)}); is this another version of its split?"
        raise _fault("wrong-count", root, fault)


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
