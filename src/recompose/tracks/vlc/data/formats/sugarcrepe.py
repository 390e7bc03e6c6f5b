"""SugarCrepe: an image's true caption, and one that language models changed (Hsieh et al., 2023).

Read like ``main_eval.py`` of RAIVNLab/sugar-crepe at 0047054: each file is an object of items with ``filename``,
``caption`` and ``negative_caption``, all of which count, and images are not cropped. The keys of items are names, not
numbers: those of ``swap_obj`` have gaps.
"""

from pathlib import Path

from recompose.tracks.vlc.data.formats.reading import COCO, AnnotationItem, Question, read_items
from recompose.tracks.vlc.data.suite import Collector, Suite

NAME = "sugarcrepe"
SETS = ("replace_obj", "replace_att", "replace_rel", "swap_obj", "swap_att", "add_obj", "add_att")
IMAGES = f"{COCO}/val2017"
LAYOUT = f"""\
{NAME}/{{{",".join(SETS)}}}.json: the folder data of github.com/RAIVNLab/sugar-crepe
{IMAGES}/<12 digits>.jpg: val2017.zip of cocodataset.org"""


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: a file is absent or not as published.
    """
    collector = Collector()
    files = {name: read_items(root / NAME / f"{name}.json", LAYOUT) for name in SETS}
    questions = {name: [_question(item, collector) for item in items] for name, items in files.items()}
    tasks = {f"{NAME}/{name}": collector.choices("i2t", questions[name]) for name in SETS}
    return collector.suite(NAME, tasks)


def _question(item: AnnotationItem, collector: Collector) -> Question:
    captions = [collector.text(item.text(field)) for field in ("caption", "negative_caption")]
    return collector.image(item.path("filename", IMAGES)), captions, 0
