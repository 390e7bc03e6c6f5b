"""ARO: relations and attributes in Visual Genome, and the order of words in captions (Yuksekgonul et al., 2023).

Read like ``dataset_zoo/aro_datasets.py`` of mertyg/vision-language-models-are-bows at 81fdd20. An image of Visual
Genome is cropped to a box (``bbox_x``, ``bbox_y``, ``bbox_w``, ``bbox_h``). Its candidates are ``false_caption`` and
then ``true_caption``, and scores are means over groups: ``relation_name``, or the two ``attributes`` in their order.

In the order tasks the true caption is first, before four shuffled ones. The authors publish no shuffled captions: their
code draws them at each start. They are read from a file of its output, which ``aro_order.py`` draws by the same rules:
a list of its ``test_cases``, each with ``image`` and the five ``caption_options``.

Each of the four parts is read where its file is there.
"""

from recompose.data.pictures import Picture
from recompose.tracks.vlc.data.formats.reading import COCO, FLICKR30K, VISUAL_GENOME, AnnotationItem, Question
from recompose.tracks.vlc.data.formats.sources import (
    FLICKR30K_IMAGES,
    VAL2014,
    VISUAL_GENOME_PARTS,
    Source,
    drive_file,
    place_of,
)
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import SubTask, macro, suite
from recompose.tracks.vlc.suites.tasks import Choices

BOX = ("bbox_x", "bbox_y", "bbox_w", "bbox_h")  # of a region
CAPTIONS = 5  # of an item of the order tasks
ORDERS = {"coco_order": COCO, "flickr30k_order": FLICKR30K}  # sub-task -> the folder of its images
RELATIONS, ATTRIBUTES = "visual_genome_relation.json", "visual_genome_attribution.json"
FILES = {"vg_relation": RELATIONS, "vg_attribution": ATTRIBUTES, **{name: f"{name}.json" for name in ORDERS}}
SUBTASKS = (
    # the true caption is last, and argmax takes the first
    SubTask("aro/vg_relation", "i2t", 23_937, "strict", group_minimum=1),
    SubTask("aro/vg_attribution", "i2t", 28_748, "strict", group_minimum=25),
    # it is first: a shuffled caption identical to the true one counts as right
    SubTask("aro/flickr30k_order", "i2t", 5_000, "lenient"),
    SubTask("aro/coco_order", "i2t", 25_010, "lenient"),
)
MEANS = (suite(macro("aro", "vg_relation", "vg_attribution", "flickr30k_order", "coco_order")),)
LICENCE = "MIT"  # of annotations, as its repository or its paper states
STATE = "two of four annotation files are published; the order ones are made by its code"
LAYOUT = f"""\
<suite>/visual_genome_relation.json, <suite>/visual_genome_attribution.json: dataset_zoo/aro_datasets.py of \
github.com/mertyg/vision-language-models-are-bows fetches them from Google Drive
<suite>/coco_order.json, <suite>/flickr30k_order.json: not published by the authors; `recompose data aro-order` draws \
them by their rules from the captions of the suites coco and flickr30k: [{{"image": "val2014/..." or \
"flickr30k-images/...", "caption_options": [true, 4 shuffled]}}, ...]
{VISUAL_GENOME}/<number>.jpg: both parts of Visual Genome's images, visualgenome.org
{COCO}/val2014/*.jpg: val2014.zip of cocodataset.org
{FLICKR30K}/flickr30k-images/*.jpg: request by a form at shannon.cs.illinois.edu/DenotationGraph"""

SOURCES = (
    drive_file("aro", RELATIONS, "1kX2iCHEv0CADL8dSO1nMdW-V0NqIAiP3"),
    drive_file("aro", ATTRIBUTES, "13tWvOrNOLHxl3Rm9cR3geAdHx2qR3-Tw"),
    *(
        Source(f"aro/{name}.json", place_of("aro", f"{name}.json"), terms="`recompose data aro-order` draws it")
        for name in ORDERS
    ),
    *VISUAL_GENOME_PARTS,
    VAL2014,
    FLICKR30K_IMAGES,
)


def read(files: SuiteFiles) -> Suite:
    """Read those parts of the suite whose files are there.

    Raises:
        DataError: all files are absent, or one is not as published.
    """
    present = [name for name, file in FILES.items() if files.path(file).exists()]
    return files.suite({name: _part(files, name) for name in present or FILES})


def _part(files: SuiteFiles, name: str) -> Choices:
    items = files.items(FILES[name])
    if name in ORDERS:
        orders = [(item.path("image", ORDERS[name]), item.texts("caption_options", CAPTIONS), 0) for item in items]
        return files.choices("i2t", orders)
    if name == "vg_relation":
        groups = [item.text("relation_name") for item in items]
    else:
        groups = ["_".join(item.texts("attributes", 2)) for item in items]
    return files.choices("i2t", list(map(_binding, items)), groups)


def _binding(item: AnnotationItem) -> Question:
    region = Picture(item.path("image_path", VISUAL_GENOME), item.box(*BOX))
    return region, [item.text("false_caption"), item.text("true_caption")], 1
