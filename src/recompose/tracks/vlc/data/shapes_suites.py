"""shapes-suites: drawn suites of all kinds, in the files and folders that the published ones come in.

Each world has its own pictures, none of which is in a corpus; suites share them where the published ones do: Visual
Genome's, COCO's, SWiG's, ... Each suite asks what the published one of its name asks: to bind attributes, to tell who
is where and does what, to count, to deny, to mind the order of words.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from recompose.synthetic.sentences import Scene
from recompose.tracks.vlc.data.formats import (
    aro,
    clip_binding,
    coco,
    coco_counterfactuals,
    colorswap,
    comvg,
    crepe,
    elevater,
    eqben,
    flickr30k,
    imagecode,
    sick,
    spec,
    sts_b,
    sugarcrepe,
    svo_probes,
    valse,
    vl_checklist,
    whatsup,
    winoground,
)
from recompose.tracks.vlc.data.shapes_captions import WEB
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.data.synthetic_suites.checklist import draw_checklist
from recompose.tracks.vlc.data.synthetic_suites.classification import draw_classification
from recompose.tracks.vlc.data.synthetic_suites.coco import (
    draw_counterfactuals,
    draw_questions,
    draw_retrieval,
    draw_sugarcrepe,
)
from recompose.tracks.vlc.data.synthetic_suites.genome import draw_aro, draw_comvg, draw_crepe, draw_genome, draw_order
from recompose.tracks.vlc.data.synthetic_suites.photos import World, draw_album, of_kinds
from recompose.tracks.vlc.data.synthetic_suites.similarity import draw_similarity
from recompose.tracks.vlc.data.synthetic_suites.standalone import (
    draw_clip_binding,
    draw_colorswap,
    draw_controlled,
    draw_eqben,
    draw_imagecode,
    draw_spec,
    draw_svo_probes,
    draw_winoground,
)
from recompose.tracks.vlc.data.synthetic_suites.valse import draw_valse

FORMATS = (
    *(aro, crepe, eqben, imagecode, spec, sugarcrepe, svo_probes, valse, vl_checklist, whatsup, winoground),
    *(comvg, colorswap, clip_binding, coco, flickr30k, coco_counterfactuals, elevater, sick, sts_b),
)


def draw_world(world: World) -> None:
    """Draw all pictures of a world, and write the files of all suites."""
    rng = world.rng("albums")
    genome = draw_genome(world)
    val2017 = draw_album(
        world,
        "images/coco/val2017/{:012d}.jpg",
        of_kinds(rng, {"two": 80, "act": 50, "many": 25, "placed": 25}, world.share),
    )
    mixed = {"one": 20, "many": 20, "placed": 15, "two": 70, "act": 35}
    val2014 = draw_album(
        world, "images/coco/val2014/COCO_val2014_{:012d}.jpg", _shuffled(of_kinds(rng, mixed, world.share), rng)
    )
    flickr = draw_album(
        world,
        "images/flickr30k/flickr30k-images/{:010d}.jpg",
        _shuffled(of_kinds(rng, mixed, world.share), rng)[: world.items(140)],
        WEB,
    )
    swig = draw_album(world, "images/swig/{}.jpg", of_kinds(rng, {"act": 40}))
    hake = draw_album(world, "images/hake/vcoco/{:06d}.jpg", of_kinds(rng, {"act": 12, "two": 8}))
    draw_aro(world, genome)
    draw_order(world, "coco_order", val2014, aro.ORDERS["coco_order"])
    draw_order(world, "flickr30k_order", flickr, aro.ORDERS["flickr30k_order"])
    draw_crepe(world, genome)
    draw_comvg(world, genome)
    draw_questions(world, "vg", genome)
    draw_questions(world, "coco", val2017)
    draw_controlled(world)
    draw_sugarcrepe(world, val2017)
    draw_valse(world, val2017, val2014, swig)
    draw_checklist(world, {"images/vg": genome, "images/swig": swig, "images/hake": hake})
    draw_eqben(world)
    draw_imagecode(world)
    draw_spec(world)
    draw_svo_probes(world)
    draw_winoground(world)
    draw_colorswap(world)
    draw_clip_binding(world)
    draw_retrieval(world, "coco", "coco_karpathy_test.json", val2014, "images/coco")
    draw_retrieval(world, "flickr30k", "flickr30k_test.json", flickr, "images/flickr30k")
    draw_counterfactuals(world)
    draw_classification(world)
    draw_similarity(world)


def _shuffled(scenes: Sequence[Scene], rng: Random) -> list[Scene]:
    return rng.sample(list(scenes), len(scenes))


def draw(root: Path, *, seed: int, share: float) -> None:
    """Draw all suites into ``root``: the same seed gives the same bytes.

    Args:
        root: an empty folder.
        seed: of all that is drawn.
        share: of the items that each suite has at its full size, in (0, 1].
    """
    draw_world(World(root, seed, share))


def read(root: Path) -> Iterator[Suite]:
    """Read and check the suites.

    Raises:
        DataError: a file is absent, or not as it was drawn.
    """
    for form in FORMATS:
        yield form.read(root)
