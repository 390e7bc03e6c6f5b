"""shapes-suites: synthetic suites of all kinds in the papers, in the files and folders of the published ones.

Each replicate has its own pictures, none of which is in a corpus. Suites share pictures where the published ones do:
Visual Genome's, COCO's, SWiG's, ... Each suite has the task of the published one of its name: binding of attributes,
relations and actions, counting, negation, the order of words.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from recompose.synthetic.sentences import Scene
from recompose.tracks.vlc.data.formats import aro
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
from recompose.tracks.vlc.data.synthetic_suites.photos import SuiteReplicate, draw_album, held_out_scenes
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
from recompose.tracks.vlc.suites.catalogue import DRAWN, read_suite


def draw_suites(replicate: SuiteReplicate) -> None:
    """Draw all pictures of a replicate, and write the files of all suites."""
    rng = replicate.rng("albums")
    genome = draw_genome(replicate)
    val2017 = draw_album(
        replicate,
        "images/coco/val2017/{:012d}.jpg",
        held_out_scenes(rng, {"two": 80, "act": 50, "many": 25, "placed": 25}, replicate.share),
    )
    mixed = {"one": 20, "many": 20, "placed": 15, "two": 70, "act": 35}
    val2014 = draw_album(
        replicate,
        "images/coco/val2014/COCO_val2014_{:012d}.jpg",
        _shuffle(held_out_scenes(rng, mixed, replicate.share), rng),
    )
    flickr = draw_album(
        replicate,
        "images/flickr30k/flickr30k-images/{:010d}.jpg",
        _shuffle(held_out_scenes(rng, mixed, replicate.share), rng)[: replicate.items(140)],
        WEB,
    )
    swig = draw_album(replicate, "images/swig/{}.jpg", held_out_scenes(rng, {"act": 40}))
    hake = draw_album(replicate, "images/hake/vcoco/{:06d}.jpg", held_out_scenes(rng, {"act": 12, "two": 8}))
    draw_aro(replicate, genome)
    draw_order(replicate, "coco_order", val2014, aro.ORDERS["coco_order"])
    draw_order(replicate, "flickr30k_order", flickr, aro.ORDERS["flickr30k_order"])
    draw_crepe(replicate, genome)
    draw_comvg(replicate, genome)
    draw_questions(replicate, "vg", genome)
    draw_questions(replicate, "coco", val2017)
    draw_controlled(replicate)
    draw_sugarcrepe(replicate, val2017)
    draw_valse(replicate, val2017, val2014, swig)
    draw_checklist(replicate, {"images/vg": genome, "images/swig": swig, "images/hake": hake})
    draw_eqben(replicate)
    draw_imagecode(replicate)
    draw_spec(replicate)
    draw_svo_probes(replicate)
    draw_winoground(replicate)
    draw_colorswap(replicate)
    draw_clip_binding(replicate)
    draw_retrieval(replicate, "coco", "coco_karpathy_test.json", val2014, "images/coco")
    draw_retrieval(replicate, "flickr30k", "flickr30k_test.json", flickr, "images/flickr30k")
    draw_counterfactuals(replicate)
    draw_classification(replicate)
    draw_similarity(replicate)


def _shuffle(scenes: Sequence[Scene], rng: Random) -> list[Scene]:
    return rng.sample(list(scenes), len(scenes))


def draw(root: Path, *, seed: int, share: float) -> None:
    """Generate all suites in ``root``: the same seed gives the same bytes.

    Args:
        root: an empty folder.
        seed: the seed of the replicate.
        share: of the items of each suite at its full size; above 1 for more.
    """
    draw_suites(SuiteReplicate(root, seed, share))


def read(root: Path) -> Iterator[Suite]:
    """Read and check the suites.

    Raises:
        DataError: a file is absent or was changed.
    """
    for form in DRAWN:
        yield read_suite(form, root)
