"""ARO: relations and attributes in parts of images of Visual Genome, and the order of words in captions.

Read as mertyg/vision-language-models-are-bows at 81fdd20 does (``dataset_zoo/aro_datasets.py``). Of Visual Genome's
images a box is cut out, and the candidates are the false caption and then the true one; scores are means over relations,
or over pairs of attributes. In the order tasks the true caption stands first, before the same words shuffled in four
ways: nouns and adjectives, all words but these, words within each three, and threes of words.

The shuffled captions are published nowhere. The released code draws them anew whenever it starts, and with them the
true captions too, lower-cased and without punctuation: with seed 1 of both Python's ``random`` and NumPy, spaCy's
en_core_web_sm and NLTK's tokenizer in the versions of the day, from Karpathy's test captions. So they are read from a
file of those five captions, as its ``test_cases`` has them.
"""

from pathlib import Path

from recompose.tracks.vlc.data.formats.reading import COCO, FLICKR30K, VISUAL_GENOME, Item, read_items
from recompose.tracks.vlc.data.suite import Choices, Collector, Suite

NAME = "aro"
SHUFFLED = 4  # false captions of an item of the order tasks
ORDERS = {"coco_order": COCO, "flickr30k_order": FLICKR30K}  # and the folders of their images
LAYOUT = (
    f"{NAME}/visual_genome_relation.json and {NAME}/visual_genome_attribution.json, which "
    "github.com/mertyg/vision-language-models-are-bows fetches from Google Drive: "
    '[{"image_path", "bbox_x", "bbox_y", "bbox_w", "bbox_h", "true_caption", "false_caption", '
    '"relation_name" or "attributes": [first, second]}, ...]; '
    f"{NAME}/coco_order.json and {NAME}/flickr30k_order.json, published nowhere: the test_cases of that repository's "
    'COCO_Order and Flickr30k_Order (seed 1), written as [{"image", "caption_options": [true, 4 shuffled]}, ...]; '
    f"{VISUAL_GENOME}/<image_path>, all images in one folder; {COCO}/<image> (val2014/COCO_val2014_*.jpg, "
    f"cocodataset.org); {FLICKR30K}/<image> (flickr30k-images/*.jpg, to be asked for at shannon.cs.illinois.edu)"
)


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: a file is absent or not as published.
    """
    folder, collector = root / NAME, Collector()
    relations = read_items(folder / "visual_genome_relation.json", LAYOUT)
    attributions = read_items(folder / "visual_genome_attribution.json", LAYOUT)
    tasks = {
        f"{NAME}/vg_relation": _boxes(relations, [item.text("relation_name") for item in relations], collector),
        f"{NAME}/vg_attribution": _boxes(attributions, [_pair(item) for item in attributions], collector),
    }
    for name, images in ORDERS.items():
        tasks[f"{NAME}/{name}"] = _order(read_items(folder / f"{name}.json", LAYOUT), images, collector)
    return collector.suite(NAME, tasks)


def _boxes(found: list[Item], groups: list[str], collector: Collector) -> Choices:
    def item(one: Item) -> tuple[int, list[int], int]:
        box = one.box("bbox_x", "bbox_y", "bbox_w", "bbox_h")
        captions = [collector.text(one.text(key)) for key in ("false_caption", "true_caption")]
        return collector.image(one.path("image_path", VISUAL_GENOME), box), captions, 1

    return collector.choices("i2t", [item(one) for one in found], groups)


def _pair(item: Item) -> str:
    return "_".join(item.texts("attributes", 2))


def _order(found: list[Item], images: str, collector: Collector) -> Choices:
    def item(one: Item) -> tuple[int, list[int], int]:
        captions = [collector.text(caption) for caption in one.texts("caption_options", 1 + SHUFFLED)]
        return collector.image(one.path("image", images)), captions, 0

    return collector.choices("i2t", [item(one) for one in found])
