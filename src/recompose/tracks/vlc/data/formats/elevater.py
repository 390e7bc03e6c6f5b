"""ELEVATER: 21 sets of images to be told apart by prompts of their classes (Li et al., 2022).

Names of classes and templates are the toolkit's (Computer-Vision-in-the-Wild/Elevater_Toolkit_IC at 00d0af7); images
and labels are found as its package vision-datasets finds them (microsoft/vision-datasets at 21d86a7): a registry names
each set's folder and the index of its test split, which is lines of ``image label[,label...]`` or, where the registry
says so, JSON as COCO's. Images stand in archives there, ``archive.zip@image``, which are unpacked here.

A class is scored by the mean of its prompts' embeddings; of a class that has several names the first is taken.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recompose.data.paths import is_inside
from recompose.tracks.vlc.data.formats.reading import Item, Key, distinct, fault, filled, items, needed, read_document
from recompose.tracks.vlc.data.suite import Classes, Collector, Suite
from recompose.tracks.vlc.suites.catalogue import CLASSIFICATIONS

NAME = "elevater"
SETS = {  # by the names of their settings (``resources/datasets/*.yaml``), those of their prompts and in the registry
    "caltech101": "caltech-101",
    "cifar10": "cifar-10",
    "cifar100": "cifar-100",
    "country211": "country211",
    "dtd": "dtd",
    "eurosat-clip": "eurosat_clip",
    "fer2013": "fer-2013",
    "fgvc-aircraft-2013b": "fgvc-aircraft-2013b-variants102",
    "flower102": "oxford-flower-102",
    "food101": "food-101",
    "gtsrb": "gtsrb",
    "hateful-memes": "hateful-memes",
    "imagenet-1k": "imagenet-1k",
    "kitti-distance": "kitti-distance",
    "mnist": "mnist",
    "oxford-iiit-pets": "oxford-iiit-pets",
    "patchcamelyon": "patch-camelyon",
    "rendered-sst2": "rendered-sst2",
    "resisc45-clip": "resisc45_clip",
    "stanfordcar": "stanford-cars",
    "voc2007classification": "voc-2007-classification",
}
IMAGES = f"images/{NAME}"
SOURCE, PROMPTS, REGISTRY = "prompts.py", "elevater_prompts.json", "vision_datasets.json"
LAYOUT = (
    f"{NAME}/{SOURCE}: vision_benchmark/datasets/{SOURCE} of "
    "github.com/Computer-Vision-in-the-Wild/Elevater_Toolkit_IC, or its two tables as "
    f'{NAME}/{PROMPTS}: {{"class_map": {{set: [class or [name, ...], ...]}}, "template_map": {{set: '
    '["... {} ...", ...]}}; '
    f"{NAME}/{REGISTRY}: vision_benchmark/resources/datasets/{REGISTRY} there; "
    f"{NAME}/<root_folder>/<index_path>: the index of a set's test split that the registry names, such as "
    f"{NAME}/classification/caltech_101_20211007/test.txt, which classification/download_datasets.py of "
    "github.com/Computer-Vision-in-the-Wild/DataDownload gets with the archives (a signed link, which may be dead); "
    f"{IMAGES}/<root_folder>/<archive>/<file>, each archive unpacked into a folder of its name without .zip, so that "
    f"test.zip@0/1.jpg is {IMAGES}/classification/caltech_101_20211007/test/0/1.jpg; sets without an index are left "
    "out (imagenet-1k is image-net.org's to give)"
)


MULTILABEL = "classification_multilabel"  # among the registry's types: an image may show several classes


@dataclass(frozen=True)
class Prompts:
    """What a set's images are told apart by."""

    names: tuple[str, ...]  # [classes]
    prompts: tuple[tuple[str, ...], ...]  # [classes]


@dataclass(frozen=True)
class Labelled:
    """An image of an index."""

    entry: Item  # of the index
    path: str  # of the image, below the root of raw files
    labels: tuple[int, ...]


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files; sets that have no index are left out.

    Where none of the 21 is there, the registry's other sets are read, under their own names: a user's, or drawn ones.

    Raises:
        DataError: a file is not as published, or there is no set at all.
    """
    folder, collector = root / NAME, Collector()
    prompts = tables(folder)
    registry = items(read_document(folder / REGISTRY, LAYOUT), folder / REGISTRY)
    distinct(registry, "name")
    entries = {entry.text("name"): entry for entry in registry if index_of(entry, folder).exists()}
    names = {name: published for name, published in SETS.items() if published in entries}
    tasks = {
        f"{NAME}/{name}": _classes(entries[listed], folder, prompts_of(prompts, listed), name, collector)
        for name, listed in (names or {own: own for own in entries}).items()
    }
    if not tasks:
        raise needed(f"the index of a set that {folder / REGISTRY} names", LAYOUT)
    return collector.suite(NAME, tasks)


def tables(folder: Path) -> Item:
    """The classes and templates of all sets: what the toolkit's Python file assigns, or the same in JSON.

    Args:
        folder: of the suite.

    Raises:
        DataError: there is neither file, or it is not as published.
    """
    if (folder / SOURCE).is_file() and not (folder / PROMPTS).exists():
        path = folder / SOURCE
        return Item(path, "the file", assigned(path))
    return _object(folder / PROMPTS)


def assigned(path: Path) -> dict[Key, Any]:
    """What a Python file assigns to names, which are lists of texts, or tables of such names; nothing of it is run.

    Raises:
        DataError: it is not Python, or assigns something else.
    """
    values: dict[Key, Any] = {}
    try:
        for statement in ast.parse(_text(path)).body:
            if isinstance(statement, ast.Assign):
                (target,) = statement.targets
                values[ast.unparse(target)] = _value(statement.value, values)
    except (ValueError, TypeError, SyntaxError, KeyError, MemoryError, RecursionError) as error:
        raise fault(path, f"not lists of texts and tables of these ({type(error).__name__})") from None
    return values


def _value(written: ast.expr, values: Mapping[Key, Any]) -> Any:
    if not isinstance(written, ast.Dict):
        return ast.literal_eval(written)
    keys = [ast.literal_eval(key) for key in written.keys if key is not None]
    return {key: values[ast.unparse(named)] for key, named in zip(keys, written.values, strict=True)}


def prompts_of(tables: Item, name: str) -> Prompts:
    """The classes and prompts of a set.

    Args:
        tables: of classes and of templates.
        name: of the set, as the tables call it.

    Raises:
        DataError: there are none, or a template has not one place for a class.
    """
    classes, templates = tables.part("class_map", dict).part(name, list), tables.part("template_map", dict)
    names = tuple(_class(classes, label) for label in classes.fields)
    if not names:
        raise classes.fault("there are no classes")
    wordings = templates.texts(name)
    for wording in wordings:
        if wording.count("{}") != 1 or set("{}") & set(wording.replace("{}", "")):
            raise templates.fault(f"{name}: {wording!r} has not one {{}} for the class")
    return Prompts(names, tuple(tuple(wording.replace("{}", one) for wording in wordings) for one in names))


def _class(classes: Item, label: int | str) -> str:
    if isinstance(classes.fields[label], list):
        return classes.texts(label)[0]
    return classes.text(label)


def index_of(entry: Item, folder: Path) -> Path:
    """Where the index of a set's test split is.

    Args:
        entry: the set in the registry.
        folder: of the suite.

    Raises:
        DataError: the registry names none, or one outside of the folder.
    """
    name = f"{entry.text('root_folder')}/{entry.part('test', dict).text('index_path')}"
    if not is_inside(name):
        raise entry.fault(f"the index {name!r} lies outside of its folder")
    return folder / name


def _classes(entry: Item, folder: Path, prompts: Prompts, name: str, collector: Collector) -> Classes:
    index, images = index_of(entry, folder), f"{IMAGES}/{entry.text('root_folder')}"
    many = entry.text("type") == MULTILABEL
    coco = "format" in entry.fields and entry.text("format") == "coco"
    listed = (from_coco if coco else from_lines)(index, images, len(prompts.names))
    for image in listed:
        if not many and len(image.labels) != 1:
            raise image.entry.fault(f"{len(image.labels)} labels, where an image has one")
    labels = _indicators(listed, len(prompts.names)) if many else np.array([one.labels[0] for one in listed])
    known = CLASSIFICATIONS.get(f"{NAME}/{name}")
    squeezed = known is not None and not known.centre_crop
    return Classes(
        np.array([collector.image(one.path, squeezed=squeezed) for one in listed], dtype=np.int64),
        labels,
        tuple(tuple(collector.text(prompt) for prompt in of_class) for of_class in prompts.prompts),
        prompts.names,
    )


def _indicators(listed: list[Labelled], classes: int) -> np.ndarray:
    """Whether an image shows a class, [images, classes] bool."""
    shown = np.zeros((len(listed), classes), dtype=bool)
    for row, image in zip(shown, listed, strict=True):
        row[[*image.labels]] = True
    return shown


def from_lines(path: Path, images: str, classes: int) -> list[Labelled]:
    """The images of an index of lines ``image label[,label...]``, in their order; a name may hold blanks.

    Args:
        path: of the index.
        images: the folder that its images are named below.
        classes: how many there are.

    Raises:
        DataError: a line is none of these, a label is that of no class, or there are no lines.
    """
    listed = []
    for number, line in enumerate(map(str.strip, _text(path).split("\n")), start=1):
        if line:
            image, _, labels = line.rpartition(" ")
            entry = Item(path, f"line {number}", {"image": image, **dict(enumerate(labels.split(",")))})
            numbers = tuple(entry.whole(place, classes) for place in range(len(entry.fields) - 1))
            listed.append(Labelled(entry, entry.below(images, unpacked(entry.text("image"))), numbers))
    return filled(listed, path)


def from_coco(path: Path, images: str, classes: int) -> list[Labelled]:
    """The images of an index of COCO's form, by their ids; labels are the places of categories by theirs.

    Args:
        path: of the index.
        images: the folder that its images are named below.
        classes: how many there are.

    Raises:
        DataError: the index is of another form, ids stand twice or belong to nothing, or categories are not as many as
            classes.
    """
    document = _object(path)
    parts = {name: items(document.get(name, list), path, name) for name in ("images", "categories", "annotations")}
    for name in ("images", "categories"):
        distinct(parts[name], "id")
    if len(parts["categories"]) != classes:
        raise fault(path, f"{len(parts['categories'])} categories, where prompts are of {classes} classes")
    places = {one: place for place, one in enumerate(sorted(one.whole("id") for one in parts["categories"]))}
    labels: dict[int, list[int]] = {one.whole("id"): [] for one in parts["images"]}
    for annotation in parts["annotations"]:
        image, category = annotation.whole("image_id"), annotation.whole("category_id")
        if image not in labels or category not in places:
            raise annotation.fault(f"there is no image {image} or no category {category}")
        labels[image].append(places[category])
    ordered = sorted(parts["images"], key=lambda image: image.whole("id"))
    return [
        Labelled(one, one.below(images, unpacked(_archived(one))), tuple(labels[one.whole("id")])) for one in ordered
    ]


def _archived(image: Item) -> str:
    return "@".join(image.text(key) for key in ("zip_file", "file_name") if key in image.fields)


def unpacked(name: str) -> str:
    """Where an image lies once its archive is unpacked into a folder of the archive's name.

    Example:
        >>> unpacked("test.zip@0/1.jpg"), unpacked("images/1.jpg")
        ('test/0/1.jpg', 'images/1.jpg')
    """
    return name.replace(".zip@", "/", 1)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise fault(path, f"cannot be read as text in UTF-8 ({type(error).__name__})") from None


def _object(path: Path) -> Item:
    return Item(path, "the file", {"content": read_document(path, LAYOUT)}).part("content", dict)
