"""ARO: relations and attributes in Visual Genome, and the order of words in captions (Yuksekgonul et al., 2023).

Read like ``dataset_zoo/aro_datasets.py`` of mertyg/vision-language-models-are-bows at 81fdd20. An image of Visual
Genome is cropped to a box (``bbox_x``, ``bbox_y``, ``bbox_w``, ``bbox_h``). Its candidates are ``false_caption`` and
then ``true_caption``, and scores are means over groups: ``relation_name``, or the two ``attributes`` in their order.

In the order tasks the true caption is first, before four shuffled ones. Shuffled are: nouns and adjectives; all other
words; the words within each three; the threes. The authors publish no shuffled captions: their code draws them at each
start from Karpathy's test captions, with the tags of spaCy's en_core_web_sm and the tokens of NLTK in the installed
versions, and with the generators of NumPy and of Python seeded with 1; it cuts all five to 30 words in lower case
without most punctuation. So they are read from a file of its output: a list of its ``test_cases``, each with ``image``
and the five ``caption_options``.
"""

from collections.abc import Sequence
from pathlib import Path

from recompose.tracks.vlc.data.formats.reading import (
    COCO,
    FLICKR30K,
    VISUAL_GENOME,
    AnnotationItem,
    Question,
    read_items,
)
from recompose.tracks.vlc.data.suite import Choices, Collector, Suite

NAME = "aro"
CAPTIONS = 5  # of an item of the order tasks
ORDERS = {"coco_order": COCO, "flickr30k_order": FLICKR30K}  # sub-task -> the folder of its images
LAYOUT = f"""\
{NAME}/visual_genome_relation.json, {NAME}/visual_genome_attribution.json: dataset_zoo/aro_datasets.py of \
github.com/mertyg/vision-language-models-are-bows fetches them from Google Drive
{NAME}/coco_order.json, {NAME}/flickr30k_order.json: not published by the authors; json.dump the test_cases of \
COCO_Order and of Flickr30k_Order there, after seed_all(1) of misc: [{{"image": "val2014/..." or \
"flickr30k-images/...", "caption_options": [true, 4 shuffled]}}, ...] (another draw, with images, is \
huggingface.co/datasets/gowitheflow/ARO-COCO-order and ARO-Flickr-Order)
{VISUAL_GENOME}/<number>.jpg: both parts of Visual Genome's images (VG_100K and VG_100K_2) in one folder, \
visualgenome.org
{COCO}/val2014/*.jpg: val2014.zip of cocodataset.org
{FLICKR30K}/flickr30k-images/*.jpg: request by a form at shannon.cs.illinois.edu/DenotationGraph"""


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
        f"{NAME}/vg_attribution": _boxes(attributions, [_attributes(item) for item in attributions], collector),
    }
    for name, images in ORDERS.items():
        items = read_items(folder / f"{name}.json", LAYOUT)
        tasks[f"{NAME}/{name}"] = collector.choices("i2t", [_order(item, images, collector) for item in items])
    return collector.suite(NAME, tasks)


def _boxes(items: Sequence[AnnotationItem], groups: Sequence[str], collector: Collector) -> Choices:
    return collector.choices("i2t", [_box(item, collector) for item in items], groups)


def _box(item: AnnotationItem, collector: Collector) -> Question:
    box = item.box("bbox_x", "bbox_y", "bbox_w", "bbox_h")
    captions = [collector.text(item.text(field)) for field in ("false_caption", "true_caption")]
    return collector.image(item.path("image_path", VISUAL_GENOME), box), captions, 1


def _attributes(item: AnnotationItem) -> str:
    return "_".join(item.texts("attributes", 2))


def _order(item: AnnotationItem, images: str, collector: Collector) -> Question:
    captions = [collector.text(caption) for caption in item.texts("caption_options", CAPTIONS)]
    return collector.image(item.path("image", images)), captions, 0
