"""WhatsUp: where things are, of four captions (A, B) or two (COCO-QA, VG-QA), the true one first (Kamath et al., 2023).

Read as ``dataset_zoo/aro_datasets.py`` of amitakamath/whatsup_vlms at 7c1f255 does.
"""

from pathlib import Path, PurePosixPath

from recompose.data.paths import is_inside
from recompose.tracks.vlc.data.formats.reading import COCO, VISUAL_GENOME, Item, read_items
from recompose.tracks.vlc.data.suite import Choices, Collector, Suite

NAME = "whatsup"
PLACES = 4  # that something is said to be at
CONTROLLED = {  # the file of a sub-task, which is also the name of its folder of images
    "a": ("controlled_images_dataset.json", "controlled_images"),
    "b": ("controlled_clevr_dataset.json", "controlled_clevr"),
}
QUESTIONS = {
    "coco_qa_one": "coco_qa_one_obj.json",
    "coco_qa_two": "coco_qa_two_obj.json",
    "vg_qa_one": "vg_qa_one_obj.json",
    "vg_qa_two": "vg_qa_two_obj.json",
}
IMAGES = f"images/{NAME}"
LAYOUT = (
    f"{NAME}/{{{','.join([*(file for file, _ in CONTROLLED.values()), *QUESTIONS.values()])}}}, from the Google Drive "
    "folder that github.com/amitakamath/whatsup_vlms links to: "
    '[{"image_path", "caption_options": [true, 3 false]}, ...] and [[image, true, false], ...]; '
    f"{IMAGES}/controlled_images/* and {IMAGES}/controlled_clevr/* (controlled_images.tar.gz and "
    f"controlled_clevr.tar.gz there); {COCO}/val2017/<12 digits>.jpg (cocodataset.org); {VISUAL_GENOME}/<image>.jpg, "
    "all in one folder (visualgenome.org, or vg_images.tar.gz of that folder)"
)


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: a file is absent or not as published.
    """
    folder, collector = root / NAME, Collector()
    tasks = {}
    for name, (file, images) in CONTROLLED.items():
        tasks[f"{NAME}/{name}"] = _controlled(read_items(folder / file, LAYOUT), f"{IMAGES}/{images}", collector)
    for name, file in QUESTIONS.items():
        tasks[f"{NAME}/{name}"] = _questions(read_items(folder / file, LAYOUT), name, collector)
    return collector.suite(NAME, tasks)


def _controlled(found: list[Item], images: str, collector: Collector) -> Choices:
    def item(one: Item) -> tuple[int, list[int], int]:
        name = one.text("image_path")  # with the folder that the released code is run in before it
        path = one.below(images, PurePosixPath(name).name if is_inside(name) else name)
        captions = [collector.text(caption) for caption in one.texts("caption_options", PLACES)]
        return collector.image(path), captions, 0

    return collector.choices("i2t", [item(one) for one in found])


def _questions(found: list[Item], name: str, collector: Collector) -> Choices:
    def item(one: Item) -> tuple[int, list[int], int]:
        path = _coco(one) if name.startswith("coco") else _visual_genome(one)
        return collector.image(path), [collector.text(one.text(place)) for place in (1, 2)], 0

    return collector.choices("i2t", [item(one) for one in found])


def _coco(item: Item) -> str:
    return f"{COCO}/val2017/{item.whole(0):012d}.jpg"


def _visual_genome(item: Item) -> str:
    """GQA, whose images they are, calls some by a letter and a number."""
    name = item.text(0) if isinstance(item.fields.get(0), str) else str(item.whole(0))
    return item.below(VISUAL_GENOME, f"{name}.jpg")
