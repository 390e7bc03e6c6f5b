"""Means of the scores of sub-tasks: the number of each suite, and Comp, ZS, I2T Ret and T2I Ret over suites.

Each suite is a tree of means, declared once: its leaves are sub-tasks, or sets of VL-Checklist, under the names that
``catalogue.py`` lists. FSC-CLIP was evaluated with vl_compo, whose code was never released; the trees were recovered
from its tables of 202 models, and reproduce all of their numbers. A mean is ``macro``, in which all parts weigh the
same, or ``micro``, in which they weigh by their items.

Three trees are unexpected: EqBen's three Kubric sets count as one, VALSE's eleven files as seven, and an object leaf of
VL-Checklist is the mean over its three corpora, of which SWiG has four sets and Visual Genome two.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from recompose.errors import ArgumentError

Tree: TypeAlias = "Mean | str"  # a mean, or the name of a leaf


@dataclass(frozen=True)
class Mean:
    """A mean over parts, which are means or leaves."""

    name: str
    parts: tuple[Tree, ...]
    by_items: bool = False  # micro: parts weigh by their items

    @property
    def leaves(self) -> tuple[str, ...]:
        """The names of all leaves, from left to right."""
        nested = (part.leaves if isinstance(part, Mean) else (part,) for part in self.parts)
        return tuple(leaf for leaves in nested for leaf in leaves)


def macro(name: str, *parts: Tree) -> Mean:
    """Return the mean in which all parts weigh the same."""
    return Mean(name, parts)


def micro(name: str, *parts: Tree) -> Mean:
    """Return the mean in which parts weigh by their items."""
    return Mean(name, parts, by_items=True)


def prefix_names(name: str, part: Tree) -> Tree:
    """Return a part of a suite, with the suite's name before all names in it.

    Example:
        >>> prefix_names("aro", macro("order", "coco", "flickr")).leaves
        ('aro/coco', 'aro/flickr')
    """
    if isinstance(part, str):
        return f"{name}/{part}"
    return replace(part, name=f"{name}/{part.name}", parts=tuple(prefix_names(name, inner) for inner in part.parts))


def in_sense(tree: Mean, sense: str) -> Mean:
    """Return the same mean over another number of each sub-task.

    Example:
        >>> in_sense(macro("mine", "mine/a", "mine/b"), "text")
        Mean(name='mine/text', parts=('mine/a/text', 'mine/b/text'), by_items=False)
    """
    return replace(tree, name=f"{tree.name}/{sense}", parts=tuple(f"{leaf}/{sense}" for leaf in tree.leaves))


def suite(tree: Mean) -> Mean:
    """Return the tree of a suite, with its name before the names of its parts."""
    return replace(tree, parts=tuple(prefix_names(tree.name, part) for part in tree.parts))


def _object_leaf(name: str) -> Mean:
    """Return an object leaf of VL-Checklist: HAKE, and the means of SWiG's four sets and of Visual Genome's two.

    At most 1,000 items of a set are scored. Given the sets' sizes, the released scores have the denominators of these
    means, not those of a pooled share.
    """
    swig = macro(f"{name}/swig", *(f"{name}/swig_{role}" for role in ("agent", "destination", "item", "tool")))
    return macro(name, f"{name}/hake", swig, macro(f"{name}/vg", f"{name}/vg_obj", f"{name}/vg_subj"))


ARO = suite(macro("aro", "vg_relation", "vg_attribution", "flickr30k_order", "coco_order"))
CREPE = suite(macro("crepe", "atom", "swap", "negate"))
EQBEN = suite(
    macro("eqben", "youcook2", "gebc", "ag", macro("kubric", "kubric_loc", "kubric_cnt", "kubric_attr"), "sd")
)
IMAGECODE = suite(micro("imagecode", "video", "static"))
SPEC_SUBSETS = ("absolute_size", "relative_size", "absolute_spatial", "relative_spatial", "existence", "count")
SPEC = suite(
    macro(
        "spec",
        macro("i2t", *(f"i2t/{subset}" for subset in SPEC_SUBSETS)),
        macro("t2i", *(f"t2i/{subset}" for subset in SPEC_SUBSETS)),
    )
)
SUGARCREPE = suite(
    macro(
        "sugarcrepe",
        micro("replace", "replace_obj", "replace_att", "replace_rel"),
        micro("swap", "swap_obj", "swap_att"),
        micro("add", "add_obj", "add_att"),
    )
)
SUGARCREPE_MICRO = micro("sugarcrepe/micro", *SUGARCREPE.leaves)  # over all items, as in SugarCrepe's paper
SVO_PROBES = suite(macro("svo_probes", "subj_neg", "verb_neg", "obj_neg"))
VALSE = suite(
    macro(
        "valse",
        "existence",
        "plurals",
        macro("counting", "counting-hard", "counting-small-quant", "counting-adversarial"),
        "relations",
        macro("actions", "action-replacement", "actant-swap"),
        macro("coreference", "coreference-standard", "coreference-hard"),
        "foil-it",
    )
)
VL_CHECKLIST = suite(
    macro(
        "vl_checklist",
        macro(
            "object",
            *(_object_leaf(f"object_location_{place}") for place in ("center", "margin", "mid")),
            *(_object_leaf(f"object_size_{size}") for size in ("large", "medium", "small")),
        ),
        macro(
            "attribute",
            *(
                macro(f"attribute_{kind}", f"attribute_{kind}/vaw", f"attribute_{kind}/vg")
                for kind in ("action", "color", "material", "size", "state")
            ),
        ),
        macro(
            "relation",
            macro("relation_action", "relation_action/hake", "relation_action/swig", "relation_action/vg"),
            "relation_spatial",
        ),
    )
)
WHATSUP = suite(macro("whatsup", "a", "b", "coco_qa_one", "coco_qa_two", "vg_qa_one", "vg_qa_two"))
WINOGROUND, COMVG, COLORSWAP, CLIP_BINDING = "winoground", "comvg", "colorswap", "clip_binding"  # one sub-task each
SIMILARITY = ("sick", "sts_b")  # Spearman's correlations
CREPE_SYSTEMATICITY = tuple(  # the paper compares these numbers with each other and has no mean of them
    f"crepe_systematicity/{corpus}_{split}_{kind}"
    for corpus in ("cc12m", "yfcc", "laion")
    for split in ("seen", "unseen")
    for kind in ("atom", "comp", "combined")
)
BIVLC = suite(micro("bivlc", "replace", "swap", "add"))  # over all items, as in its released code
SUGARCREPE_PP = suite(  # its paper prints no mean
    macro("sugarcrepe_pp", "replace_obj", "replace_att", "replace_rel", "swap_obj", "swap_att")
)

COMP = macro(
    "comp",
    ARO,
    CREPE,
    EQBEN,
    IMAGECODE,
    SPEC,
    SUGARCREPE,
    SVO_PROBES,
    VALSE,
    VL_CHECKLIST,
    WHATSUP,
    WINOGROUND,
)
ELEVATER = (
    "caltech101",
    "cifar10",
    "cifar100",
    "country211",
    "dtd",
    "eurosat-clip",
    "fer2013",
    "fgvc-aircraft-2013b",
    "flower102",
    "food101",
    "gtsrb",
    "hateful-memes",
    "imagenet-1k",
    "kitti-distance",
    "mnist",
    "oxford-iiit-pets",
    "patchcamelyon",
    "rendered-sst2",
    "resisc45-clip",
    "stanfordcar",
    "voc2007classification",
)
ZS = macro("zs", *(f"elevater/{task}" for task in ELEVATER))
RETRIEVAL = ("coco", "flickr30k", "coco_counterfactuals")
I2T_RET, T2I_RET = (macro(f"{way}_ret", *(f"{name}/{way}" for name in RETRIEVAL)) for way in ("i2t", "t2i"))
OTHERS: tuple[Tree, ...] = (  # suites in no mean over suites
    *(COMVG, COLORSWAP, CLIP_BINDING, *SIMILARITY, *CREPE_SYSTEMATICITY),
    *(BIVLC, in_sense(BIVLC, "text"), in_sense(BIVLC, "image")),
    *(SUGARCREPE_PP, in_sense(SUGARCREPE_PP, "text_only")),
)
TREES: tuple[Tree, ...] = (COMP, ZS, I2T_RET, T2I_RET, SUGARCREPE_MICRO, *OTHERS)


def aggregate(
    scores: Mapping[str, float], items: Mapping[str, int] | None = None, trees: tuple[Tree, ...] = TREES
) -> dict[str, float]:
    """Return the scores, and each mean whose parts all have a number.

    A mean with a missing part has no number; ``missing_leaves`` lists them. A score may also be that of a mean, such as
    a suite's where a table prints no sub-tasks: it replaces its parts.

    Args:
        scores: of sub-tasks (the group score of groups, R@1 of retrieval) by name; fractions or percentages.
        items: the number of items of a score, needed by micro means.
        trees: the trees of means.

    Raises:
        ArgumentError: a name is in no tree, a score is NaN or infinite, a mean and a part of it both have scores, or
            the items of a part of a micro mean are unknown.

    Example:
        >>> scores = {"imagecode/video": 20.0, "imagecode/static": 40.0, "winoground": 10.0}
        >>> aggregate(scores, items={"imagecode/video": 300, "imagecode/static": 100})["imagecode"]
        25.0
    """
    names = {name for tree in trees for name in names_in(tree)}
    for name, score in scores.items():
        if name not in names:
            raise ArgumentError(
                name, f"is no sub-task and no mean of {', '.join(map(_name, trees))}", code="unknown-name"
            )
        if not math.isfinite(score):
            raise ArgumentError(name, f"has the score {score}", code="wrong-number")
    numbers = {name: float(score) for name, score in scores.items()}
    for tree in trees:
        _settle(tree, scores, items or {}, numbers)
    return numbers


def missing_leaves(tree: Tree, scores: Mapping[str, float]) -> tuple[str, ...]:
    """Return the leaves of a tree without a score, of their own or of a mean above them, from left to right.

    Example:
        >>> missing_leaves(SVO_PROBES, {"svo_probes/verb_neg": 0.8})
        ('svo_probes/subj_neg', 'svo_probes/obj_neg')
    """
    if _name(tree) in scores:
        return ()
    if isinstance(tree, str):
        return (tree,)
    return tuple(leaf for part in tree.parts for leaf in missing_leaves(part, scores))


def trees_of(form: str, name: str) -> tuple[Tree, ...]:
    """Return the trees of a suite under another name than the published one of its form.

    Example:
        >>> [tree.name for tree in trees_of("sugarcrepe", "mine")]
        ['mine', 'mine/micro']
        >>> trees_of("coco", "mine")
        ('mine/i2t', 'mine/t2i')
    """
    trees = (*COMP.parts, *I2T_RET.parts, *T2I_RET.parts, *TREES)
    return tuple(_renamed(tree, form, name) for tree in trees if _name(tree).split("/")[0] == form)


def _renamed(tree: Tree, old: str, new: str) -> Tree:
    """Return a tree of a suite with another name of the suite."""
    name = new + _name(tree).removeprefix(old)
    if isinstance(tree, str):
        return name
    return replace(tree, name=name, parts=tuple(_renamed(part, old, new) for part in tree.parts))


def _settle(tree: Tree, scores: Mapping[str, float], items: Mapping[str, int], numbers: dict[str, float]) -> None:
    """Add the numbers of a tree's means to ``numbers``, from the leaves up."""
    if isinstance(tree, str):
        return
    if tree.name in scores:
        below = [name for part in tree.parts for name in names_in(part) if name in scores]
        if below:
            raise ArgumentError(tree.name, f"has a score, and so has {below[0]}, a part of it", code="two-scores")
        return
    for part in tree.parts:
        _settle(part, scores, items, numbers)
    names = [_name(part) for part in tree.parts]
    if all(name in numbers for name in names):
        weights = [_items(part, tree, items) if tree.by_items else 1 for part in tree.parts]
        total = math.fsum(weight * numbers[name] for weight, name in zip(weights, names, strict=True))
        numbers[tree.name] = total / sum(weights)


def _items(part: Tree, mean: Mean, items: Mapping[str, int]) -> int:
    """Return the number of items of a part of a micro mean."""
    name = _name(part)
    if name not in items and isinstance(part, Mean):
        return sum(_items(inner, mean, items) for inner in part.parts)
    if items.get(name, 0) < 1:
        fault = f"has {items.get(name, 'no number of')} items, by which {mean.name} weighs its parts"
        raise ArgumentError(name, fault, code="no-items")
    return items[name]


def _name(tree: Tree) -> str:
    return tree.name if isinstance(tree, Mean) else tree


def names_in(tree: Tree) -> tuple[str, ...]:
    """Return the names of a tree and of all means and leaves in it."""
    if isinstance(tree, str):
        return (tree,)
    return (tree.name, *(name for part in tree.parts for name in names_in(part)))
