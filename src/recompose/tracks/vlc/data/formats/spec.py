"""SPEC: generated images that differ in one thing, and captions that tell them apart, asked both ways.

Read as ``spec/dataset.py`` of wjpoom/SPEC at ad982a4 does: the candidates stand in the order of the file, and
``label`` is the place of the right one.
"""

from pathlib import Path

from recompose.tracks.vlc.aggregation import SPEC_SUBSETS
from recompose.tracks.vlc.data.formats.reading import Item, read_items
from recompose.tracks.vlc.data.suite import Collector, Suite, Task

NAME = "spec"
IMAGES = f"images/{NAME}"
LAYOUT = (
    f"{NAME}/<subset>/image2text.json and {NAME}/<subset>/text2image.json for the subsets {', '.join(SPEC_SUBSETS)}, "
    'from data.zip of huggingface.co/datasets/wjpoom/SPEC: [{"query", "keys": [...], "label": place in keys}, ...], '
    "query an image and keys captions, or the other way round; "
    f"{IMAGES}/<subset>/<image>, from the same archive, where images lie beside the annotations"
)


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: a file is absent or not as published.
    """
    collector = Collector()
    tasks: dict[str, Task] = {}
    for subset in SPEC_SUBSETS:
        images = f"{IMAGES}/{subset}"

        def of_image(item: Item, images: str = images) -> tuple[int, list[int], int]:
            captions = [collector.text(caption) for caption in item.texts("keys")]
            return collector.image(item.path("query", images)), captions, item.whole("label", len(captions))

        def of_text(item: Item, images: str = images) -> tuple[int, list[int], int]:
            keys = item.part("keys", list)
            offered = [collector.image(keys.below(images, name)) for name in item.texts("keys")]
            return collector.text(item.text("query")), offered, item.whole("label", len(offered))

        asked = read_items(root / NAME / subset / "image2text.json", LAYOUT)
        tasks[f"{NAME}/i2t/{subset}"] = collector.choices("i2t", [of_image(item) for item in asked])
        asked = read_items(root / NAME / subset / "text2image.json", LAYOUT)
        tasks[f"{NAME}/t2i/{subset}"] = collector.choices("t2i", [of_text(item) for item in asked])
    return collector.suite(NAME, tasks)
