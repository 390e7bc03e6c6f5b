"""VL-Checklist: a caption and one with a word replaced, in 56 sets of objects, attributes and relations.

Zhao et al., 2022, read like the released code with its own settings (om-ai-lab/VL-CheckList at 6f8d6a3,
``vl_checklist/data_loader.py``, the task ``itc`` of ``vl_checklist/evaluate.py``): the first of an item's captions
``POS`` against the first of ``NEG``, although SWiG's sets have three of each; of a set the first 1,000 items whose
images are on disk. Here they are the first 1,000 regardless of the disk, so that two machines evaluate the same items.
Some items have the same text for both, which are indistinguishable.
"""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from recompose.data.paths import is_inside
from recompose.tracks.vlc.data.formats.reading import VISUAL_GENOME, AnnotationItem, read_items
from recompose.tracks.vlc.data.suite import Choices, Collector, Suite
from recompose.tracks.vlc.suites.aggregation import VL_CHECKLIST
from recompose.tracks.vlc.suites.catalogue import CHECKLIST_CAP

NAME = "vl_checklist"
IMAGES = {"vg": VISUAL_GENOME, "vaw": VISUAL_GENOME, "swig": "images/swig", "hake": "images/hake"}
LAYOUT = (
    f"{NAME}/data/{{Object,Attribute,Relation}}/...json, the 56 files of the folder data of "
    "github.com/om-ai-lab/VL-CheckList, in its folders: "
    '[[image, {"POS": [caption, ...], "NEG": [caption, ...]}], ...]; '
    f"{VISUAL_GENOME}/<number>.jpg, all images of VG_100K and VG_100K_2 in one folder (visualgenome.org); "
    "images/swig/* (images_512.zip of github.com/allenai/swig); images/hake/{hake_images_20190730,"
    "hake_images_20200614,hcvrd,hico_20160224_det,openimages,pic,vcoco}/* as its DATASETS.md says "
    "(github.com/DirtyHarryLYL/HAKE; for some parts the links are dead)"
)


def read(root: Path) -> Suite:
    """Read the suite below a root of raw files.

    Raises:
        DataError: a file is absent or not as published.
    """
    collector, folder = Collector(), root / NAME / "data"
    leaves = [leaf.removeprefix(f"{NAME}/") for leaf in VL_CHECKLIST.leaves]
    return collector.suite(
        NAME, {f"{NAME}/{leaf}": _choices(folder / file_of(leaf), leaf, collector) for leaf in leaves}
    )


def _choices(path: Path, leaf: str, collector: Collector) -> Choices:
    images = IMAGES[_corpus(leaf)]
    return collector.choices("i2t", [*_items(read_items(path, LAYOUT)[:CHECKLIST_CAP], images, collector)])


def _items(entries: list[AnnotationItem], images: str, collector: Collector) -> Iterator[tuple[int, list[int], int]]:
    for entry in entries:
        captions = entry.part(1, dict)
        texts = [collector.text(captions.texts(key)[0]) for key in ("POS", "NEG")]
        yield collector.image(entry.image_path(images, _name(entry, images))), texts, 0


def _name(item: AnnotationItem, images: str) -> str:
    """Return the name of an image in its folder; those of Visual Genome lie in one folder, not in two."""
    name = item.text(0)
    return PurePosixPath(name).name if images == VISUAL_GENOME and is_inside(name) else name


def file_of(leaf: str) -> str:
    """Return the path of a set's file below the folder ``data``, as in the released ``corpus/v1/**/*.yaml``.

    Example:
        >>> file_of("object_size_large/swig_agent")
        'Object/Size/swig_size/swig_agent/swig_agent_large.json'
        >>> file_of("attribute_color/vaw"), file_of("relation_spatial"), file_of("relation_action/hake")
        ('Attribute/vaw/color.json', 'Relation/vg/spatial.json', 'Relation/hake_action.json')
    """
    topic, *kinds = leaf.split("/")[0].split("_")
    corpus, kind = _corpus(leaf), kinds[-1]
    if topic == "object":
        aspect, name = kinds[0], leaf.split("/")[1]
        folder_name = "hake_obj" if name == "hake" else name
        inner = f"{folder_name}/" if corpus == "swig" else ""
        return f"Object/{aspect.title()}/{corpus}_{aspect}/{inner}{folder_name}_{kind}.json"
    if topic == "attribute" or corpus == "vg":
        return f"{topic.title()}/{corpus}/{kind}.json"
    return f"Relation/{corpus}_{kind}.json"


def _corpus(leaf: str) -> str:
    """Return the corpus of the images of a set: vg, vaw, swig or hake; there is one set of spatial relations."""
    return leaf.partition("/")[2].split("_")[0] or "vg"
