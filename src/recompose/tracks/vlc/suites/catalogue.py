"""The sub-tasks of all suites: their queries, numbers of candidates and items, and rules for ties.

Names are those of the leaves of ``aggregation.py``. Items are the published counts, which annotation files and the
released tables of models are checked against. The rule for ties is that of a suite's released code; if the code leaves
it open, or there is none, a tie is wrong.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from recompose.tracks.vlc.suites.aggregation import (
    CREPE_SYSTEMATICITY,
    SPEC_SUBSETS,
    VL_CHECKLIST,
    VL_CHECKLIST_ALL,
)

if TYPE_CHECKING:
    from recompose.tracks.vlc.suites.ranks import Ties

SuiteForm = Literal[
    "aro",
    "crepe",
    "eqben",
    "imagecode",
    "spec",
    "sugarcrepe",
    "svo_probes",
    "valse",
    "vl_checklist",
    "whatsup",
    "winoground",
    "comvg",
    "colorswap",
    "clip_binding",
    "elevater",
    "coco",
    "flickr30k",
    "coco_counterfactuals",
    "sick",
    "sts_b",
    "crepe_systematicity",
    "bivlc",
    "sugarcrepe_pp",
]
UNDRAWN = ("crepe_systematicity", "bivlc", "sugarcrepe_pp")  # suites of no paper here: they have no synthetic data
LIMITED = ("eqben",)  # suites whose items a setting may limit
Query = Literal["i2t", "t2i", "group", "triplet"]
CREPE_COMPLEXITIES = range(4, 14)  # atoms of a caption; the last: 13 and more
TRIPLET_SENSES = ("first", "second", "text_only")  # of triplets, beside both captions at once
CHECKLIST_CAP = 1_000  # VL-Checklist's own settings take at most the first 1,000 items of a set
CHECKLIST_SHORT = {  # the sets with fewer items
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
CHECKLIST_ALL = {
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


@dataclass(frozen=True)
class SubTask:
    """A set of items with one accuracy."""

    name: str
    query: Query  # a caption for an image, an image for a caption, pairs of both, or two captions for an image
    candidates: int | None  # of an item, or captions and images of a group; None: items differ, or unknown
    items: int | None  # None: no published count
    ties: "Ties"
    group_minimum: int | None = None  # ARO: the mean over groups of at least so many items; None: over items

    @property
    def suite(self) -> str:
        """The name of the suite."""
        return self.name.split("/")[0]


@dataclass(frozen=True)
class Classification:
    """A data set of ELEVATER."""

    name: str
    images: int  # of its test split
    metric: Literal["accuracy", "mean-per-class", "11point_mAP", "roc_auc"] = "accuracy"
    centre_crop: bool = True


@dataclass(frozen=True)
class Retrieval:
    """A set of images, each with its captions; equal scores keep the order of the files."""

    name: str
    images: int
    captions: int
    ties: "Ties" = "first"


def _subtasks(
    suite: str, items: Mapping[str, int | None], query: Query, candidates: int | None, ties: "Ties"
) -> Iterator[SubTask]:
    return (SubTask(f"{suite}/{name}", query, candidates, count, ties) for name, count in items.items())


_LISTED = (
    # the true caption is last, and argmax takes the first
    SubTask("aro/vg_relation", "i2t", 2, 23_937, "strict", group_minimum=1),
    SubTask("aro/vg_attribution", "i2t", 2, 28_748, "strict", group_minimum=25),
    # it is first: a shuffled caption identical to the true one counts as right
    SubTask("aro/flickr30k_order", "i2t", 5, 5_000, "lenient"),
    SubTask("aro/coco_order", "i2t", 5, 25_010, "lenient"),
    # the true caption is first, and a stable sort leaves it before equals: some false captions are the same text
    *_subtasks("crepe", {"atom": 17_698, "swap": 7_405, "negate": 17_303}, "i2t", None, "lenient"),
    *_subtasks("eqben", {"youcook2": 45_849, "gebc": 1_814, "ag": 195_872, "sd": 1_513}, "group", 2, "strict"),
    *_subtasks("eqben", {"kubric_loc": 2_000, "kubric_cnt": 2_000, "kubric_attr": 2_000}, "group", 2, "strict"),
    # sorted, with an unspecified order of equal scores
    *_subtasks("imagecode", {"video": 1_872, "static": 430}, "t2i", 10, "strict"),
    # argmax, with the true candidate anywhere
    *_subtasks("spec", {f"i2t/{subset}": None for subset in SPEC_SUBSETS}, "i2t", None, "first"),
    *_subtasks("spec", {f"t2i/{subset}": None for subset in SPEC_SUBSETS}, "t2i", None, "first"),
    *_subtasks("sugarcrepe", {"replace_obj": 1_652, "replace_att": 788, "replace_rel": 1_406}, "i2t", 2, "strict"),
    *_subtasks("sugarcrepe", {"swap_obj": 245, "swap_att": 666}, "i2t", 2, "strict"),
    *_subtasks("sugarcrepe", {"add_obj": 2_062, "add_att": 692}, "i2t", 2, "strict"),
    # no code was released; the counts are those of the images that FSC-CLIP's authors could still download
    *_subtasks("svo_probes", {"subj_neg": 3_728, "verb_neg": 13_523, "obj_neg": 4_911}, "t2i", 2, "strict"),
    *_subtasks("valse", {"existence": 505, "plurals": 851, "relations": 535, "foil-it": 943}, "i2t", 2, "strict"),
    *_subtasks(
        "valse",
        {"counting-hard": 868, "counting-small-quant": 900, "counting-adversarial": 691},
        "i2t",
        candidates=2,
        ties="strict",
    ),
    *_subtasks("valse", {"action-replacement": 648, "actant-swap": 949}, "i2t", 2, "strict"),
    *_subtasks("valse", {"coreference-standard": 708, "coreference-hard": 104}, "i2t", 2, "strict"),
    *(
        SubTask(leaf, "i2t", 2, CHECKLIST_SHORT.get(leaf.removeprefix("vl_checklist/"), CHECKLIST_CAP), "strict")
        for leaf in VL_CHECKLIST.leaves
    ),
    *(
        SubTask(leaf, "i2t", 2, CHECKLIST_ALL.get(leaf.removeprefix("vl_checklist/all/")), "strict")
        for leaf in VL_CHECKLIST_ALL.leaves
    ),
    # the true caption is first, and argmax takes the first
    *_subtasks("whatsup", {"a": 412, "b": 408}, "i2t", 4, "lenient"),
    *_subtasks("whatsup", {"coco_qa_one": 2_247, "coco_qa_two": 440}, "i2t", 2, "lenient"),
    *_subtasks("whatsup", {"vg_qa_one": 1_160, "vg_qa_two": 291}, "i2t", 2, "lenient"),
    SubTask("winoground", "group", 2, 400, "strict"),
    SubTask("comvg", "t2i", 2, 5_400, "strict"),
    SubTask("comvg/verb", "t2i", 2, 1_280, "strict"),
    SubTask("colorswap", "group", 2, 300, "strict"),  # Winoground's format; its code reads answers in words
    # the true caption is first, and argmax takes the first
    SubTask("clip_binding", "i2t", 5, None, "lenient"),
    SubTask("clip_binding/plain", "i2t", 5, None, "lenient"),
    # sorted, with an unspecified order of equal scores
    *(SubTask(leaf, "i2t", None, None, "strict") for leaf in CREPE_SYSTEMATICITY),
    *_subtasks("bivlc", {"replace": 2_099, "swap": 359, "add": 475}, "group", 2, "strict"),
    *_subtasks(
        "sugarcrepe_pp", {"replace_obj": 1_652, "replace_att": 788, "replace_rel": 1_406}, "triplet", 3, "strict"
    ),
    *_subtasks("sugarcrepe_pp", {"swap_obj": 245, "swap_att": 666}, "triplet", 3, "strict"),
)
SUBTASKS = {subtask.name: subtask for subtask in _LISTED}
ITEMS = {subtask.name: subtask.items for subtask in _LISTED if subtask.items is not None}

CLASSIFICATIONS = {
    task.name: task
    for task in (
        Classification("elevater/caltech101", 6_084, "mean-per-class"),
        Classification("elevater/cifar10", 10_000),
        Classification("elevater/cifar100", 10_000),
        Classification("elevater/country211", 21_100),
        Classification("elevater/dtd", 1_880),
        Classification("elevater/eurosat-clip", 5_000),
        Classification("elevater/fer2013", 3_589),
        Classification("elevater/fgvc-aircraft-2013b", 3_333, "mean-per-class"),
        Classification("elevater/flower102", 6_149, "mean-per-class"),
        Classification("elevater/food101", 25_250),
        Classification("elevater/gtsrb", 12_630),
        Classification("elevater/hateful-memes", 500, "roc_auc"),
        Classification("elevater/imagenet-1k", 50_000),
        Classification("elevater/kitti-distance", 711, centre_crop=False),
        Classification("elevater/mnist", 10_000),
        Classification("elevater/oxford-iiit-pets", 3_669, "mean-per-class"),
        Classification("elevater/patchcamelyon", 32_768),
        Classification("elevater/rendered-sst2", 1_821),
        Classification("elevater/resisc45-clip", 25_200),
        Classification("elevater/stanfordcar", 8_041),
        Classification("elevater/voc2007classification", 4_952, "11point_mAP"),
    )
}

# the numbers of graded pairs of sentences in the test sets
SIMILARITIES = {"sick": 4_927, "sts_b": 1_379}

RETRIEVALS = {
    dataset.name: dataset
    for dataset in (
        Retrieval("coco", 5_000, 25_010),  # Karpathy's test split
        Retrieval("flickr30k", 1_000, 5_000),
        # 5,223 of its 17,410 pairs of two images and two captions, drawn with an unknown seed
        Retrieval("coco_counterfactuals", 10_446, 10_446),
    )
}
