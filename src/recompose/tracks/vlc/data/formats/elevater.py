"""ELEVATER: 21 sets of images to classify by prompts of their classes (Li et al., 2022).

Names of classes and templates are the toolkit's (Computer-Vision-in-the-Wild/Elevater_Toolkit_IC at 00d0af7). Images
and labels are located like in its package vision-datasets (microsoft/vision-datasets at 21d86a7): a registry names each
set's folder and the index of its test split, which is lines of ``image label[,label...]`` or, if the registry states
so, JSON in COCO's form. There images lie in archives, ``archive.zip@image``, which are unpacked here.

A class is scored with the mean embedding of its prompts; of several names of a class the first is used.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recompose.data.paths import is_inside
from recompose.data.pictures import Picture
from recompose.tracks.vlc.data.formats.reading import (
    AnnotationItem,
    Key,
    check_distinct,
    fault,
    items,
    missing_error,
    read_content,
    read_object,
    read_text_lines,
    require_items,
)
from recompose.tracks.vlc.data.formats.sources import Source, github, plain_files
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import ClassMetric, SubTask, macro
from recompose.tracks.vlc.suites.tasks import Classes

SETS: Mapping[str, tuple[str, int, ClassMetric]] = {  # name of the settings (``resources/datasets/*.yaml``)
    # -> name of the prompts and in the registry, images, metric
    "caltech101": ("caltech-101", 6_084, "mean-per-class"),
    "cifar10": ("cifar-10", 10_000, "accuracy"),
    "cifar100": ("cifar-100", 10_000, "accuracy"),
    "country211": ("country211", 21_100, "accuracy"),
    "dtd": ("dtd", 1_880, "accuracy"),
    "eurosat-clip": ("eurosat_clip", 5_000, "accuracy"),
    "fer2013": ("fer-2013", 3_589, "accuracy"),
    "fgvc-aircraft-2013b": ("fgvc-aircraft-2013b-variants102", 3_333, "mean-per-class"),
    "flower102": ("oxford-flower-102", 6_149, "mean-per-class"),
    "food101": ("food-101", 25_250, "accuracy"),
    "gtsrb": ("gtsrb", 12_630, "accuracy"),
    "hateful-memes": ("hateful-memes", 500, "roc_auc"),
    "imagenet-1k": ("imagenet-1k", 50_000, "accuracy"),
    "kitti-distance": ("kitti-distance", 711, "accuracy"),
    "mnist": ("mnist", 10_000, "accuracy"),
    "oxford-iiit-pets": ("oxford-iiit-pets", 3_669, "mean-per-class"),
    "patchcamelyon": ("patch-camelyon", 32_768, "accuracy"),
    "rendered-sst2": ("rendered-sst2", 1_821, "accuracy"),
    "resisc45-clip": ("resisc45_clip", 25_200, "accuracy"),
    "stanfordcar": ("stanford-cars", 8_041, "accuracy"),
    "voc2007classification": ("voc-2007-classification", 4_952, "11point_mAP"),
}
SQUEEZED = ("kitti-distance",)  # sets of images that are not cropped
SOURCE, PROMPTS, REGISTRY = "prompts.py", "elevater_prompts.json", "vision_datasets.json"
SUBTASKS = tuple(
    SubTask(f"elevater/{name}", "classes", images, metric=metric) for name, (_, images, metric) in SETS.items()
)
MEANS = (macro("zs", *(task.name for task in SUBTASKS)),)
LICENCE = "MIT (toolkit)"  # of annotations, as its repository or its paper states
STATE = "the toolkit is published; 21 data sets with licences of their own"
LAYOUT = (
    f"<suite>/{SOURCE}: vision_benchmark/datasets/{SOURCE} of "
    "github.com/Computer-Vision-in-the-Wild/Elevater_Toolkit_IC, or its two tables as "
    f'<suite>/{PROMPTS}: {{"class_map": {{set: [class or [name, ...], ...]}}, "template_map": {{set: '
    '["... {} ...", ...]}}; '
    f"<suite>/{REGISTRY}: vision_benchmark/resources/datasets/{REGISTRY} there; "
    "<suite>/<root_folder>/<index_path>: the index of a set's test split that the registry names, such as "
    "<suite>/classification/caltech_101_20211007/test.txt, which classification/download_datasets.py of "
    "github.com/Computer-Vision-in-the-Wild/DataDownload gets with the archives (a signed link, which may be dead); "
    "images/<suite>/<root_folder>/<archive>/<file>, each archive unpacked into a folder of its name without .zip, so "
    "that test.zip@0/1.jpg is images/<suite>/classification/caltech_101_20211007/test/0/1.jpg; sets without an index "
    "are left out (imagenet-1k is distributed by image-net.org)"
)
ADDRESS = github("Computer-Vision-in-the-Wild/Elevater_Toolkit_IC", "00d0af78559d5f3d800ae4668210e6bd1f2f84b9")
TERMS = (
    "by classification/download_datasets.py of github.com/Computer-Vision-in-the-Wild/DataDownload, by a signed link"
)
SOURCES = (
    *plain_files("elevater", f"{ADDRESS}/vision_benchmark/datasets", SOURCE),
    *plain_files("elevater", f"{ADDRESS}/vision_benchmark/resources/datasets", REGISTRY),
    Source("elevater/classification/*/*.txt", {r"(classification/[^/]+/[^/]+\.txt)": "elevater"}, terms=TERMS),
    Source("elevater/classification/*/*.json", {r"(classification/[^/]+/[^/]+\.json)": "elevater"}, terms=TERMS),
    Source("elevater/classification/*/*.zip", {r"(classification/[^/]+/[^/]+/.+)": "images/elevater"}, terms=TERMS),
)
MULTILABEL = "classification_multilabel"  # among the registry's types: an image may show several classes


@dataclass(frozen=True)
class ClassPrompts:
    """The classes and prompts of a set."""

    names: tuple[str, ...]  # [classes]
    prompts: tuple[tuple[str, ...], ...]  # [classes]


@dataclass(frozen=True)
class LabelledImage:
    """An image of an index."""

    entry: AnnotationItem  # of the index
    path: str  # of the image, below the root of raw files
    labels: tuple[int, ...]


def read(files: SuiteFiles) -> Suite:
    """Read the suite; sets without an index are left out.

    If none of the 21 exists, the registry's other sets are read, under their own names: a user's, or synthetic ones.

    Raises:
        DataError: a file is not as published, or there is no set at all.
    """
    prompts, registry = tables(files), files.items(REGISTRY)
    check_distinct(registry, "name")
    entries = {entry.text("name"): entry for entry in registry if index_of(files, entry).exists()}
    names = {name: published for name, (published, *_) in SETS.items() if published in entries}
    tasks = {
        name: _classes(files, entries[listed], prompts_of(prompts, listed), name)
        for name, listed in (names or dict(zip(entries, entries, strict=True))).items()
    }
    if not tasks:
        raise missing_error(files.path(REGISTRY), "names sets, but no index of any exists", files.layout)
    return files.suite(tasks)


def tables(files: SuiteFiles) -> AnnotationItem:
    """Return the classes and templates of all sets: the assignments of the toolkit's Python file, or the same in JSON.

    Raises:
        DataError: there is neither file, or it is not as published.
    """
    path = files.path(SOURCE)
    if path.is_file() and not files.path(PROMPTS).exists():
        return AnnotationItem(path, "the file", assignments(path, files.layout))
    return read_object(files.path(PROMPTS), files.layout)


def assignments(path: Path, layout: str) -> dict[Key, Any]:
    """Return the assignments of a Python file, which are lists of texts, or tables of such names; none of its code
    runs.

    Raises:
        DataError: it is not Python, or assigns something else.
    """
    values: dict[Key, Any] = {}
    text = read_content(path, layout)
    try:
        for statement in ast.parse(text).body:
            if isinstance(statement, ast.Assign):
                (target,) = statement.targets
                values[ast.unparse(target)] = _value(statement.value, values)
    except (ValueError, TypeError, SyntaxError, KeyError, MemoryError, RecursionError) as error:
        message = f"not lists of texts and tables of these ({type(error).__name__})"
        raise fault(path, "wrong-kind", message) from None
    return values


def _value(written: ast.expr, values: Mapping[Key, Any]) -> Any:
    if not isinstance(written, ast.Dict):
        return ast.literal_eval(written)
    keys = [ast.literal_eval(key) for key in written.keys if key is not None]
    return {key: values[ast.unparse(named)] for key, named in zip(keys, written.values, strict=True)}


def prompts_of(tables: AnnotationItem, name: str) -> ClassPrompts:
    """Return the classes and prompts of a set.

    Args:
        tables: the tables of classes and of templates.
        name: the name of the set in the tables.

    Raises:
        DataError: there are none, or a template has not exactly one placeholder for the class.
    """
    classes, templates = tables.part("class_map", dict).part(name, list), tables.part("template_map", dict)
    names = tuple(_class(classes, label) for label in classes.fields)
    if not names:
        raise classes.fault("no-items", "there are no classes")
    wordings = templates.texts(name)
    for wording in wordings:
        if wording.count("{}") != 1 or set("{}") & set(wording.replace("{}", "")):
            raise templates.field_fault(name, "wrong-template", f"{wording!r} has not one {{}} for the class")
    return ClassPrompts(
        names, tuple(tuple(wording.replace("{}", class_name) for wording in wordings) for class_name in names)
    )


def _class(classes: AnnotationItem, label: int | str) -> str:
    return classes.texts(label)[0] if isinstance(classes.fields[label], list) else classes.text(label)


def index_of(files: SuiteFiles, entry: AnnotationItem) -> Path:
    """Return the path of the index of the test split of a set in the registry.

    Raises:
        DataError: the registry names none, or one outside of the folder.
    """
    name = f"{entry.text('root_folder')}/{entry.part('test', dict).text('index_path')}"
    if not is_inside(name):
        raise entry.fault("outside-folder", f"the index {name!r} lies outside of its folder")
    return files.path(name)


def _classes(files: SuiteFiles, entry: AnnotationItem, prompts: ClassPrompts, name: str) -> Classes:
    index, images = index_of(files, entry), f"{files.images}/{entry.text('root_folder')}"
    many = entry.text("type") == MULTILABEL
    in_coco = "format" in entry.fields and entry.text("format") == "coco"
    listed = (read_coco_index if in_coco else read_line_index)(index, images, prompts, files.layout)
    for image in listed:
        if not many and len(image.labels) != 1:
            raise image.entry.fault("wrong-count", f"{len(image.labels)} labels, where an image has one")
    classes = range(len(prompts.names))
    labels = [[label in image.labels for label in classes] if many else image.labels[0] for image in listed]
    return Classes(
        files.image_numbers(Picture(image.path, squeezed=name in SQUEEZED) for image in listed),
        np.array(labels),
        tuple(tuple(files.text_numbers(of_class).tolist()) for of_class in prompts.prompts),
        prompts.names,
    )


def read_line_index(path: Path, images: str, prompts: ClassPrompts, layout: str) -> list[LabelledImage]:
    """Return the images of an index of lines ``image label[,label...]``, in their order; a name may hold blanks.

    Args:
        path: the index.
        images: the folder that the names of images are relative to.
        prompts: the classes of labels.
        layout: the files that the format requires, for the error.

    Raises:
        DataError: a line is malformed, a label has no class, or there are no lines.
    """
    listed = []
    for number, line in read_text_lines(path, layout):
        image, _, labels = line.strip().rpartition(" ")
        entry = AnnotationItem(path, f"line {number}", {"image": image, **dict(enumerate(labels.split(",")))})
        numbers = tuple(entry.whole(place, len(prompts.names)) for place in range(len(entry.fields) - 1))
        listed.append(LabelledImage(entry, entry.image_path(images, unpacked_path(entry.text("image"))), numbers))
    return require_items(listed, path)


def read_coco_index(path: Path, images: str, prompts: ClassPrompts, layout: str) -> list[LabelledImage]:
    """Return the images of an index in COCO's form, by their ids; labels are the positions of categories by their ids.

    Arguments are those of ``read_line_index``.

    Raises:
        DataError: the index has another form, an id is repeated or unknown, or the number of categories is not that of
            classes.
    """
    document, classes = read_object(path, layout), len(prompts.names)
    parts = {name: items(document.get(name, list), path, name) for name in ("images", "categories", "annotations")}
    for name in ("images", "categories"):
        check_distinct(parts[name], "id")
    if len(parts["categories"]) != classes:
        message = f"{len(parts['categories'])} categories, where prompts are of {classes} classes"
        raise fault(path, "wrong-count", message)
    ids = sorted(category.whole("id") for category in parts["categories"])
    positions = {category: position for position, category in enumerate(ids)}
    labels: dict[int, list[int]] = {image.whole("id"): [] for image in parts["images"]}
    for annotation in parts["annotations"]:
        image, category = annotation.whole("image_id"), annotation.whole("category_id")
        if image not in labels or category not in positions:
            raise annotation.fault("unknown-name", f"there is no image {image} or no category {category}")
        labels[image].append(positions[category])
    listed = []
    for number, entry in sorted((image.whole("id"), image) for image in parts["images"]):
        name = "@".join(entry.text(key) for key in ("zip_file", "file_name") if key in entry.fields)
        listed.append(LabelledImage(entry, entry.image_path(images, unpacked_path(name)), tuple(labels[number])))
    return listed


def unpacked_path(name: str) -> str:
    """Return the path of an image whose archive is unpacked into a folder of the archive's name.

    Example:
        >>> unpacked_path("test.zip@0/1.jpg"), unpacked_path("images/1.jpg")
        ('test/0/1.jpg', 'images/1.jpg')
    """
    return name.replace(".zip@", "/", 1)
