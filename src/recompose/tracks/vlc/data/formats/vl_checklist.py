"""VL-Checklist: a caption and one with a word replaced, in 56 sets of objects, attributes and relations.

Zhao et al., 2022, read like the released code with its own settings (om-ai-lab/VL-CheckList at 6f8d6a3,
``vl_checklist/data_loader.py``, the task ``itc`` of ``vl_checklist/evaluate.py``): the first of an item's captions
``POS`` against the first of ``NEG``, although some of SWiG's sets have three of each; of a set the first 1,000 items
whose images are on disk. Here images may be missing in HAKE alone, some of whose links are dead: items without one are
left out, and their number is reported. Some items have the same text for both, which are indistinguishable.

CLIP-CAE takes all items, of the sets of attributes and relations: these are also sub-tasks under ``all/``.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath

from recompose.data.paths import is_inside
from recompose.tracks.vlc.data.formats.reading import VISUAL_GENOME, AnnotationItem, Question
from recompose.tracks.vlc.data.formats.sources import SWIG_IMAGES, VISUAL_GENOME_PARTS, Source, github, plain_files
from recompose.tracks.vlc.data.formats.suite_files import Suite, SuiteFiles
from recompose.tracks.vlc.suites.subtasks import Mean, SubTask, macro, renamed, suite
from recompose.tracks.vlc.suites.tasks import Choices


def _object_leaf(name: str) -> Mean:
    """Return an object leaf of VL-Checklist: HAKE, and the means of SWiG's four sets and of Visual Genome's two.

    At most 1,000 items of a set are scored. Given the sets' sizes, the released scores have the denominators of these
    means, not those of a pooled share.
    """
    swig = macro(f"{name}/swig", *(f"{name}/swig_{role}" for role in ("agent", "destination", "item", "tool")))
    return macro(name, f"{name}/hake", swig, macro(f"{name}/vg", f"{name}/vg_obj", f"{name}/vg_subj"))


CAP = 1_000  # VL-Checklist's own settings take at most the first 1,000 items of a set
SHORT = {  # the sets with fewer items
    "object_location_margin/swig_agent": 260,
    "object_location_margin/swig_destination": 45,
    "object_location_margin/swig_item": 88,
    "object_location_margin/swig_tool": 121,
    "object_location_mid/swig_destination": 530,
    "object_size_medium/swig_agent": 442,
    "object_size_medium/swig_destination": 109,
    "object_size_medium/swig_item": 742,
    "object_size_small/swig_agent": 48,
    "object_size_small/swig_destination": 9,
    "object_size_small/swig_item": 154,
    "object_size_small/swig_tool": 308,
    "attribute_state/vg": 941,
}
# all items of the sets whose files could be counted (om-ai-lab/VL-CheckList at 6f8d6a3)
COUNTED = {
    "attribute_action/vaw": 3_039,
    "attribute_material/vaw": 11_835,
    "attribute_size/vaw": 15_321,
    "attribute_state/vaw": 4_939,
    "attribute_action/vg": 1_892,
    "attribute_color/vg": 11_569,
    "attribute_material/vg": 2_470,
    "attribute_size/vg": 2_695,
    "attribute_state/vg": 941,
    "relation_action/swig": 25_150,
    "relation_action/vg": 12_733,
    "relation_spatial": 30_650,
}
OBJECT = macro(
    "object",
    *(_object_leaf(f"object_location_{place}") for place in ("center", "margin", "mid")),
    *(_object_leaf(f"object_size_{size}") for size in ("large", "medium", "small")),
)
KINDS = (f"attribute_{kind}" for kind in ("action", "color", "material", "size", "state"))
ATTRIBUTE = macro("attribute", *(macro(kind, f"{kind}/vaw", f"{kind}/vg") for kind in KINDS))
ACTION = macro("relation_action", *(f"relation_action/{corpus}" for corpus in ("hake", "swig", "vg")))
MEAN = suite(macro("vl_checklist", OBJECT, ATTRIBUTE, macro("relation", ACTION, "relation_spatial")))
# all items of the sets that CLIP-CAE is evaluated on; those of the tree above are limited
MEAN_OF_ALL = macro("vl_checklist/all", *(renamed(part, "vl_checklist", "vl_checklist/all") for part in MEAN.parts[1:]))
SUBTASKS = (
    *(SubTask(leaf, "i2t", SHORT.get(leaf.removeprefix("vl_checklist/"), CAP), "strict") for leaf in MEAN.leaves),
    *(
        SubTask(leaf, "i2t", COUNTED.get(leaf.removeprefix("vl_checklist/all/")), "strict")
        for leaf in MEAN_OF_ALL.leaves
    ),
)
MEANS = (MEAN, MEAN_OF_ALL)
LICENCE = "unknown"  # of annotations, as its repository or its paper states
STATE = "published; some of HAKE's images have dead links"
IMAGES = {"vg": VISUAL_GENOME, "vaw": VISUAL_GENOME, "swig": "images/swig", "hake": "images/hake"}
LAYOUT = (
    "<suite>/data/{Object,Attribute,Relation}/...json, the 56 files of the folder data of "
    "github.com/om-ai-lab/VL-CheckList, in its folders: "
    '[[image, {"POS": [caption, ...], "NEG": [caption, ...]}], ...]; '
    f"{VISUAL_GENOME}/<number>.jpg, all images (visualgenome.org); "
    "images/swig/* (images_512.zip of github.com/allenai/swig); images/hake/{hake_images_20190730,"
    "hake_images_20200614,hcvrd,hico_20160224_det,openimages,pic,vcoco}/* as its DATASETS.md says "
    "(github.com/DirtyHarryLYL/HAKE; for some parts the links are dead: items without an image are left out)"
)
LEAVES = tuple(leaf.removeprefix(f"{MEAN.name}/") for leaf in MEAN.leaves)  # the names of sets
ALL = tuple(leaf.removeprefix(f"{MEAN_OF_ALL.name}/") for leaf in MEAN_OF_ALL.leaves)  # without a limit


def read(files: SuiteFiles) -> Suite:
    """Read the suite.

    Raises:
        DataError: a file is absent or not as published, or HAKE has no image of a set.
    """
    sets = {leaf: files.items(f"data/{file_of(leaf)}") for leaf in LEAVES}
    hake, folder = {leaf: items for leaf, items in sets.items() if corpus_of(leaf) == "hake"}, IMAGES["hake"]
    sets |= files.with_images(hake, folder, lambda item: [_path(item, folder)])
    tasks = {leaf: _choices(files, leaf, items[:CAP]) for leaf, items in sets.items()}
    return files.suite(tasks | {f"all/{leaf}": _choices(files, leaf, sets[leaf]) for leaf in ALL})


def _choices(files: SuiteFiles, leaf: str, items: Sequence[AnnotationItem]) -> Choices:
    images = IMAGES[corpus_of(leaf)]
    return files.choices("i2t", [_question(item, images) for item in items])


def _question(item: AnnotationItem, images: str) -> Question:
    captions = item.part(1, dict)
    return _path(item, images), [captions.texts(key)[0] for key in ("POS", "NEG")], 0


def _path(item: AnnotationItem, images: str) -> str:
    """Return the path of an image; those of Visual Genome lie in one folder, not in two."""
    name = item.text(0)
    return item.image_path(images, PurePosixPath(name).name if images == VISUAL_GENOME and is_inside(name) else name)


def file_of(leaf: str) -> str:
    """Return the path of a set's file below the folder ``data``, as in the released ``corpus/v1/**/*.yaml``.

    Example:
        >>> file_of("object_size_large/swig_agent")
        'Object/Size/swig_size/swig_agent/swig_agent_large.json'
        >>> file_of("attribute_color/vaw"), file_of("relation_spatial"), file_of("relation_action/hake")
        ('Attribute/vaw/color.json', 'Relation/vg/spatial.json', 'Relation/hake_action.json')
    """
    topic, *kinds = leaf.split("/")[0].split("_")
    corpus, kind = corpus_of(leaf), kinds[-1]
    if topic == "object":
        aspect, name = kinds[0], leaf.split("/")[1]
        folder_name = "hake_obj" if name == "hake" else name
        inner = f"{folder_name}/" if corpus == "swig" else ""
        return f"Object/{aspect.title()}/{corpus}_{aspect}/{inner}{folder_name}_{kind}.json"
    if topic == "attribute" or corpus == "vg":
        return f"{topic.title()}/{corpus}/{kind}.json"
    return f"Relation/{corpus}_{kind}.json"


def corpus_of(leaf: str) -> str:
    """Return the corpus of the images of a set: vg, vaw, swig or hake; there is one set of spatial relations."""
    return leaf.partition("/")[2].split("_")[0] or "vg"


ADDRESS = github("om-ai-lab/VL-CheckList", "6f8d6a3281c401b89e4e154f46c6974ec2df3a82")
SOURCES = (
    *plain_files("vl_checklist", ADDRESS, *(f"data/{file_of(leaf)}" for leaf in LEAVES)),
    *VISUAL_GENOME_PARTS,
    SWIG_IMAGES,
    Source(
        "hake/*.zip",
        {r"((?:hake_images_\d+|hcvrd|hico_20160224_det|openimages|pic|vcoco)/.+)": "images/hake"},
        terms="in parts, as DATASETS.md of github.com/om-ai-lab/VL-CheckList says; for some the links are dead",
    ),
)
