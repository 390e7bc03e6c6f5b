"""EqBen: two images that differ little, and their two captions (Wang et al., 2023).

The annotation after randomize is a list of images with captions in random order, four to a group: the two images with
each of the two captions. ``private_info`` identifies each: ``dataset``, ``name`` (c1i0 is caption 1 with image 0) and
``sample_cnt``, the number of the group, counted over all sets. Groups are assembled from it like in
``evaluate_eqben_locally.py`` of Wangt-CN/EqBen at ab6c79a, in the order of their numbers.

Two sets are so large that FSC-CLIP takes 20,000 of them (Appendix A.2), see ``SuiteFiles.limit``.

Frames of YouCook2 are arrays, ``.npy``: [height, width, 3] uint8, blue, green, red, as the released examples read them
(``process_img_npy``). A reader must load them without pickles and reverse the order of channels.
"""

from collections.abc import Mapping

from recompose.tracks.vlc.data.formats.reading import AnnotationItem, fault
from recompose.tracks.vlc.data.formats.sources import Source, drive_file
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import macro, subtasks, suite
from recompose.tracks.vlc.suites.tasks import Groups

SETS = {
    **{"youcook2": 45_849, "gebc": 1_814, "ag": 195_872},
    **{"kubric_loc": 2_000, "kubric_cnt": 2_000, "kubric_attr": 2_000, "sd": 1_513},
}
FILE = "ann_json_finegrained_random.json"
PARTS = ("c0i0", "c1i0", "c0i1", "c1i1")  # of a group: a caption and an image
SUBTASKS = tuple(subtasks("eqben", SETS, "group", "strict"))
KUBRIC = macro("kubric", "kubric_loc", "kubric_cnt", "kubric_attr")  # its three sets count as one
MEANS = (suite(macro("eqben", "youcook2", "gebc", "ag", KUBRIC, "sd")),)
IS_LIMITED = True  # a setting may limit its items
LICENCE = "unknown"  # of annotations, as its repository or its paper states
STATE = "published, images of 100 GB"
LAYOUT = f"""\
<suite>/{FILE}: the annotation after randomize that github.com/Wangt-CN/EqBen links to, \
drive.google.com/file/d/1-CWEuZ5F0KQ4d94Y9rRtBsMIcqb8V7nm, with private_info (not the raw original annotation)
images/<suite>/<image>: the archive of images linked there, 100 GB, whose folders are \
{", ".join(f"eqben{name}" for name in SETS)}, or the light one, 23 GB, whose images are .jpg for .png"""
SOURCES = (
    drive_file("eqben", FILE, "1-CWEuZ5F0KQ4d94Y9rRtBsMIcqb8V7nm"),
    Source(
        "eqben/*.tar.gz",
        {rf"(eqben(?:{'|'.join(SETS)})/.+)": "images/eqben"},
        terms="at Google Drive and, light, at a SharePoint; github.com/Wangt-CN/EqBen links to both (100 or 23 GB)",
    ),
)


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: a file is absent or not as published, or a group is incomplete.
    """
    groups = group_items(files.items(FILE))
    for name in SETS:
        if not groups[name]:
            raise fault(files.path(FILE), "no-items", f"holds no items of eqben{name}")
    return files.suite({name: _groups(files, files.limit.of(groups[name], name)) for name in SETS})


def group_items(entries: list[AnnotationItem]) -> dict[str, list[Mapping[str, AnnotationItem]]]:
    """Return the groups of each set, in the order of their numbers: the items of a group by their parts.

    Raises:
        DataError: an item belongs to no set, occurs twice, or its group is incomplete.
    """
    groups: dict[str, dict[int, dict[str, AnnotationItem]]] = {name: {} for name in SETS}
    for item in entries:
        info = item.part("private_info", dict)
        name, part, number = info.text("dataset").removeprefix("eqben"), info.text("name"), info.whole("sample_cnt")
        if name not in groups or part not in PARTS:
            raise item.fault("unknown-name", f"there is no {part!r} of {info.text('dataset')!r}")
        group = groups[name].setdefault(number, {})
        if part in group:
            raise item.fault("duplicate-name", f"{part} of group {number} is also {group[part].name}")
        group[part] = item
    return {name: [_complete_group(groups[name][number]) for number in sorted(groups[name])] for name in SETS}


def _complete_group(group: Mapping[str, AnnotationItem]) -> Mapping[str, AnnotationItem]:
    first = next(iter(group.values()))
    if len(group) < len(PARTS):
        raise first.fault(
            "incomplete-group", f"its group lacks {', '.join(part for part in PARTS if part not in group)}"
        )
    captions = [group[part].text("caption") for part in PARTS]
    images = [group[part].text("image") for part in PARTS]
    if captions[:2] != captions[2:] or images[::2] != images[1::2]:
        raise first.fault("incomplete-group", "the four of its group are not two images with two captions each")
    return group


def _groups(files: SuiteFiles, groups: list[Mapping[str, AnnotationItem]]) -> Groups:
    pairs = [[group["c0i0"], group["c1i1"]] for group in groups]
    return files.pairs(
        [[_image(files, item) for item in pair] for pair in pairs],
        [[item.text("caption") for item in pair] for pair in pairs],
    )


def _image(files: SuiteFiles, item: AnnotationItem) -> str:
    """Return the path of an image: in the light archive, of JPEGs, where only that is on disk."""
    path = item.path("image", files.images)
    light = path.removesuffix(".png") + ".jpg"
    is_light = path.endswith(".png") and (files.root / light).exists() and not (files.root / path).exists()
    return light if is_light else path
