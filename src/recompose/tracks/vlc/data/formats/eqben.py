"""EqBen: two images that differ little, and their two captions.

The annotation file has a line of each image with each caption, four to a group, in random order; what each is stands in
its ``private_info``. Groups are put together from that as ``evaluate_eqben_locally.py`` of Wangt-CN/EqBen at ab6c79a
does, and stand in the order of their numbers.

Frames of YouCook2 are arrays, ``.npy``: [height, width, 3] uint8 in the order blue, green, red, as the released
``process_img_npy`` takes them. Whoever opens an image whose name ends so has to load it without pickles, and to turn its
channels round.
"""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from recompose.tracks.vlc.data.formats.reading import Item, fault, read_items
from recompose.tracks.vlc.data.suite import Collector, Groups, Suite

NAME = "eqben"
SETS = ("youcook2", "gebc", "ag", "kubric_loc", "kubric_cnt", "kubric_attr", "sd")
IMAGES = f"images/{NAME}"
FILE = "ann_json_finegrained_random.json"
PARTS = ("c0i0", "c1i0", "c0i1", "c1i1")  # of a group: a caption and an image
LAYOUT = (
    f"{NAME}/{FILE}, the annotation with answers that github.com/Wangt-CN/EqBen links to (Google Drive): "
    f'[{{"image", "caption", "private_info": {{"dataset": "eqben" and one of {", ".join(SETS)}, '
    f'"name": one of {", ".join(PARTS)}, "sample_cnt": number of the group}}}}, ...]; '
    f"{IMAGES}/<image>, from the archive linked there (100 GB; of YouCook2 frames as .npy, uint8, blue-green-red)"
)


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: a file is absent or not as published, or a group is not whole.
    """
    path = root / NAME / FILE
    groups = grouped(read_items(path, LAYOUT))
    missing = [name for name in SETS if not groups[name]]
    if missing:
        raise fault(path, f"holds no items of eqben{missing[0]}")
    collector = Collector()
    return collector.suite(NAME, {f"{NAME}/{name}": _groups(groups[name], collector) for name in SETS})


def grouped(found: list[Item]) -> dict[str, list[Mapping[str, Item]]]:
    """The groups of each set, in the order of their numbers: the items of a group by their parts.

    Raises:
        DataError: an item belongs to no set, stands twice, or its group is not whole.
    """
    groups: dict[str, dict[int, dict[str, Item]]] = {name: {} for name in SETS}
    for item in found:
        info = item.part("private_info", dict)
        name, part, number = info.text("dataset").removeprefix("eqben"), info.text("name"), info.whole("sample_cnt")
        if name not in groups or part not in PARTS:
            raise info.fault(f"{info.text('dataset')!r}, {part!r} is no set and part that there is")
        group = groups[name].setdefault(number, {})
        if part in group:
            raise item.fault(f"{part} of group {number} is {group[part].name}, too")
        group[part] = item
    return {name: [_whole(groups[name][number]) for number in sorted(groups[name])] for name in SETS}


def _whole(group: Mapping[str, Item]) -> Mapping[str, Item]:
    first = next(iter(group.values()))
    if len(group) < len(PARTS):
        raise first.fault(f"its group lacks {', '.join(part for part in PARTS if part not in group)}")
    captions = [group[part].text("caption") for part in PARTS]
    images = [group[part].text("image") for part in PARTS]
    if captions[:2] != captions[2:] or images[::2] != images[1::2]:
        raise first.fault("the four of its group are not two images with two captions each")
    return group


def _groups(groups: list[Mapping[str, Item]], collector: Collector) -> Groups:
    both = [[group["c0i0"], group["c1i1"]] for group in groups]
    images = [[collector.image(item.path("image", IMAGES)) for item in pair] for pair in both]
    texts = [[collector.text(item.text("caption")) for item in pair] for pair in both]
    return Groups(np.array(images, dtype=np.int64), np.array(texts, dtype=np.int64))
