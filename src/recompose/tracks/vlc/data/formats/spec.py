"""SPEC: generated images that differ in one thing, and captions that distinguish them (Peng et al., 2024).

Read like ``spec/dataset.py`` of wjpoom/SPEC at ad982a4: items have a ``query``, candidates ``keys`` in the order of the
file, and ``label``, the position of the right one. In ``image2text.json`` the query is an image, in
``text2image.json`` the keys are.
"""

from pathlib import Path

from recompose.tracks.vlc.data.formats.reading import AnnotationItem, Question, read_items
from recompose.tracks.vlc.data.suite import Collector, Suite, Task
from recompose.tracks.vlc.suites.aggregation import SPEC_SUBSETS

NAME = "spec"
IMAGES = f"images/{NAME}"
LAYOUT = f"""\
{NAME}/<subset>/image2text.json, {NAME}/<subset>/text2image.json, subsets {", ".join(SPEC_SUBSETS)}: data.zip of \
huggingface.co/datasets/wjpoom/SPEC
{IMAGES}/<subset>/...: the images there, which lie beside the annotations"""


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: a file is absent or not as published.
    """
    collector = Collector()
    tasks: dict[str, Task] = {}
    for subset in SPEC_SUBSETS:
        folder, images = root / NAME / subset, f"{IMAGES}/{subset}"
        of_images = [_image_query(item, images, collector) for item in read_items(folder / "image2text.json", LAYOUT)]
        of_texts = [_text_query(item, images, collector) for item in read_items(folder / "text2image.json", LAYOUT)]
        tasks[f"{NAME}/i2t/{subset}"] = collector.choices("i2t", of_images)
        tasks[f"{NAME}/t2i/{subset}"] = collector.choices("t2i", of_texts)
    return collector.suite(NAME, tasks)


def _image_query(item: AnnotationItem, images: str, collector: Collector) -> Question:
    captions = [collector.text(caption) for caption in item.texts("keys")]
    return collector.image(item.path("query", images)), captions, item.whole("label", len(captions))


def _text_query(item: AnnotationItem, images: str, collector: Collector) -> Question:
    offered = [collector.image(item.image_path(images, name)) for name in item.texts("keys")]
    return collector.text(item.text("query")), offered, item.whole("label", len(offered))
