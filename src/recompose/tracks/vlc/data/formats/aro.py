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

from recompose.tracks.vlc.data.formats.reading import COCO, FLICKR30K, VISUAL_GENOME, AnnotationItem, Question
from recompose.tracks.vlc.data.formats.sources import FLICKR30K_IMAGES, VAL2014, VISUAL_GENOME_PARTS, Source, drive_file
from recompose.tracks.vlc.data.formats.suite_files import SuiteFiles
from recompose.tracks.vlc.data.suite import Choices, Suite

CAPTIONS = 5  # of an item of the order tasks
ORDERS = {"coco_order": COCO, "flickr30k_order": FLICKR30K}  # sub-task -> the folder of its images
LAYOUT = f"""\
<suite>/visual_genome_relation.json, <suite>/visual_genome_attribution.json: dataset_zoo/aro_datasets.py of \
github.com/mertyg/vision-language-models-are-bows fetches them from Google Drive
<suite>/coco_order.json, <suite>/flickr30k_order.json: not published by the authors; json.dump the test_cases of \
COCO_Order and of Flickr30k_Order there, after seed_all(1) of misc: [{{"image": "val2014/..." or \
"flickr30k-images/...", "caption_options": [true, 4 shuffled]}}, ...] (another draw, with images, is \
huggingface.co/datasets/gowitheflow/ARO-COCO-order and ARO-Flickr-Order)
{VISUAL_GENOME}/<number>.jpg: both parts of Visual Genome's images, visualgenome.org
{COCO}/val2014/*.jpg: val2014.zip of cocodataset.org
{FLICKR30K}/flickr30k-images/*.jpg: request by a form at shannon.cs.illinois.edu/DenotationGraph"""

SOURCES = (
    drive_file("aro", "visual_genome_relation.json", "1kX2iCHEv0CADL8dSO1nMdW-V0NqIAiP3"),
    drive_file("aro", "visual_genome_attribution.json", "13tWvOrNOLHxl3Rm9cR3geAdHx2qR3-Tw"),
    *(
        Source(f"aro/{name}.json", {rf"({name}\.json)": "aro"}, terms="`recompose data aro-order` draws it")
        for name in ORDERS
    ),
    *VISUAL_GENOME_PARTS,
    VAL2014,
    FLICKR30K_IMAGES,
)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: a file is absent or not as published.
    """
    relations, attributions = (files.items(f"visual_genome_{name}.json") for name in ("relation", "attribution"))
    groups = ["_".join(item.texts("attributes", 2)) for item in attributions]
    return files.suite(
        {
            "vg_relation": _boxes(files, relations, [item.text("relation_name") for item in relations]),
            "vg_attribution": _boxes(files, attributions, groups),
            **{name: _order(files, name, images) for name, images in ORDERS.items()},
        }
    )


def _boxes(files: SuiteFiles, items: Sequence[AnnotationItem], groups: Sequence[str]) -> Choices:
    def question(item: AnnotationItem) -> Question:
        image = files.image(item, "image_path", VISUAL_GENOME, item.box("bbox_x", "bbox_y", "bbox_w", "bbox_h"))
        return image, files.texts(item, "false_caption", "true_caption"), 1

    return files.choices("i2t", [question(item) for item in items], groups)


def _order(files: SuiteFiles, name: str, images: str) -> Choices:
    return files.choices(
        "i2t",
        [
            (files.image(item, "image", images), files.text_list(item, "caption_options", CAPTIONS), 0)
            for item in files.items(f"{name}.json")
        ],
    )
