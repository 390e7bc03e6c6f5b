"""SugarCrepe: is the true caption closer to an image than one that language models changed?

Read like ``main_eval.py`` of RAIVNLab/sugar-crepe at 0047054 does: every item of a file counts, the true caption has to
score strictly higher, and images are whole. The keys of items are names: those of ``swap_obj`` have gaps.
"""

from pathlib import Path

from recompose.tracks.vlc.data.formats.reading import COCO, Item, read_items
from recompose.tracks.vlc.data.suite import Collector, Suite

NAME = "sugarcrepe"
SETS = ("replace_obj", "replace_att", "replace_rel", "swap_obj", "swap_att", "add_obj", "add_att")
IMAGES = f"{COCO}/val2017"
LAYOUT = (
    f"{NAME}/{{{','.join(SETS)}}}.json, from the folder data of github.com/RAIVNLab/sugar-crepe: "
    '{"0": {"filename", "caption", "negative_caption"}, ...}; '
    f"{IMAGES}/<filename>, from cocodataset.org (val2017.zip)"
)


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: a file is absent or not as published.
    """
    collector = Collector()

    def item(one: Item) -> tuple[int, list[int], int]:
        captions = [collector.text(one.text(key)) for key in ("caption", "negative_caption")]
        return collector.image(one.path("filename", IMAGES)), captions, 0

    files = {name: read_items(root / NAME / f"{name}.json", LAYOUT) for name in SETS}
    tasks = {f"{NAME}/{name}": collector.choices("i2t", [item(one) for one in found]) for name, found in files.items()}
    return collector.suite(NAME, tasks)
