"""WhatsUp: the position of objects, of four captions (A, B) or two (COCO-QA, VG-QA), the true one first (Kamath et al.,
2023).

Read like ``dataset_zoo/aro_datasets.py`` of amitakamath/whatsup_vlms at 7c1f255.
"""

from pathlib import PurePosixPath

from recompose.data.paths import is_inside
from recompose.tracks.vlc.data.formats.reading import COCO, VISUAL_GENOME, AnnotationItem, Question
from recompose.tracks.vlc.data.formats.sources import VAL2017, Source, drive, drive_file
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import macro, subtasks, suite

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
ITEMS = {"a": 412, "b": 408, "coco_qa_one": 2_247, "coco_qa_two": 440, "vg_qa_one": 1_160, "vg_qa_two": 291}
SUBTASKS = tuple(subtasks("whatsup", ITEMS, "i2t", "lenient"))  # the true caption is first, and argmax takes the first
MEANS = (suite(macro("whatsup", *ITEMS)),)
LICENCE = "MIT"  # of annotations, as its repository or its paper states
STATE = "published"
LAYOUT = (
    f"<suite>/{{{','.join([*(file for file, _ in CONTROLLED.values()), *QUESTIONS.values()])}}}, from the Google Drive "
    "folder that github.com/amitakamath/whatsup_vlms links to: "
    '[{"image_path", "caption_options": [true, 3 false]}, ...] and [[image, true, false], ...]; '
    "images/<suite>/controlled_images/* and images/<suite>/controlled_clevr/* (controlled_images.tar.gz and "
    f"controlled_clevr.tar.gz there); {COCO}/val2017/<12 digits>.jpg (cocodataset.org); {VISUAL_GENOME}/<image>.jpg, "
    "(vg_images.tar.gz of that folder)"
)


def _archive(name: str, pattern: str, folder: str, identity: str) -> Source:
    return Source(f"whatsup/{name}.tar.gz", {pattern: folder}, (drive(identity),))


SOURCES = (
    drive_file("whatsup", CONTROLLED["a"][0], "1ap8mmmpQjLIjPGuplkpBgc1hoEHCj4hm"),
    drive_file("whatsup", CONTROLLED["b"][0], "1unNNosLbdy9NDjgj4l8fsQP3WiAAGA6z"),
    drive_file("whatsup", QUESTIONS["coco_qa_one"], "1RsMdpE9mmwnK4zzMPpC1-wTU_hNis-dq"),
    drive_file("whatsup", QUESTIONS["coco_qa_two"], "1TCEoM0mgFmz8T4cF7PQ3XJmO6JjtiQ-s"),
    drive_file("whatsup", QUESTIONS["vg_qa_one"], "1ARMRzRdohs9QTr1gpIfzyUzvW20wYp_p"),
    drive_file("whatsup", QUESTIONS["vg_qa_two"], "1sjVG5O3QMY8s118k7kQM8zzDZH12i_95"),
    _archive("controlled_images", r"(controlled_images/[^/]+)", "images/whatsup", "19KGYVQjrV3syb00GgcavB2nZTW5NXX0H"),
    _archive("controlled_clevr", r"(controlled_clevr/[^/]+)", "images/whatsup", "13jdBpg8t3NqW3jrL6FK8HO93vwsUjDxG"),
    VAL2017,
    _archive("vg_images", r"vg_images/([^/]+\.jpg)", VISUAL_GENOME, "1idW7Buoz7fQm4-670n-oERw9U-2JLJvE"),
)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: a file is absent or not as published.
    """
    controlled = {
        name: [_controlled(item, f"{files.images}/{folder}") for item in files.items(file)]
        for name, (file, folder) in CONTROLLED.items()
    }
    photos = {name: [_question(item, name) for item in files.items(file)] for name, file in QUESTIONS.items()}
    return files.suite({name: files.choices("i2t", questions) for name, questions in (controlled | photos).items()})


def _controlled(item: AnnotationItem, folder: str) -> Question:
    name = item.text("image_path")  # it starts with the working directory of the released code
    path = item.image_path(folder, PurePosixPath(name).name if is_inside(name) else name)
    return path, item.texts("caption_options", PLACES), 0


def _question(item: AnnotationItem, name: str) -> Question:
    path = f"{COCO}/val2017/{item.whole(0):012d}.jpg" if name.startswith("coco") else _visual_genome(item)
    return path, [item.text(1), item.text(2)], 0


def _visual_genome(item: AnnotationItem) -> str:
    """Return the path of an image. GQA, the source of these images, has names of a letter and a number, too."""
    name = item.text(0) if isinstance(item.fields.get(0), str) else str(item.whole(0))
    return item.image_path(VISUAL_GENOME, f"{name}.jpg")
