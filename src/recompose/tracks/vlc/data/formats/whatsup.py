"""WhatsUp: the position of objects, of four captions (A, B) or two (COCO-QA, VG-QA), the true one first (Kamath et al.,
2023).

Read like ``dataset_zoo/aro_datasets.py`` of amitakamath/whatsup_vlms at 7c1f255.
"""

from pathlib import Path, PurePosixPath

from recompose.data.paths import is_inside
from recompose.tracks.vlc.data.formats.reading import COCO, VISUAL_GENOME, AnnotationItem, read_items
from recompose.tracks.vlc.data.suite import Choices, Collector, Suite

NAME = "whatsup"
PLACES = 4  # captions of an item: positions of its object
CONTROLLED = {  # sub-task -> its file, and the name of its folder of images
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


def _controlled(entries: list[AnnotationItem], images: str, collector: Collector) -> Choices:
    def item(entry: AnnotationItem) -> tuple[int, list[int], int]:
        name = entry.text("image_path")  # it starts with the working directory of the released code
        path = entry.image_path(images, PurePosixPath(name).name if is_inside(name) else name)
        captions = [collector.text(caption) for caption in entry.texts("caption_options", PLACES)]
        return collector.image(path), captions, 0

    return collector.choices("i2t", [item(entry) for entry in entries])


def _questions(entries: list[AnnotationItem], name: str, collector: Collector) -> Choices:
    def item(entry: AnnotationItem) -> tuple[int, list[int], int]:
        path = _coco(entry) if name.startswith("coco") else _visual_genome(entry)
        return collector.image(path), [collector.text(entry.text(place)) for place in (1, 2)], 0

    return collector.choices("i2t", [item(entry) for entry in entries])


def _coco(item: AnnotationItem) -> str:
    return f"{COCO}/val2017/{item.whole(0):012d}.jpg"


def _visual_genome(item: AnnotationItem) -> str:
    """Return the path of an image. GQA, the source of these images, has names of a letter and a number, too."""
    name = item.text(0) if isinstance(item.fields.get(0), str) else str(item.whole(0))
    return item.image_path(VISUAL_GENOME, f"{name}.jpg")
